-- What sweeps look for, each in an index of its own that has what they filter by, so that they pass over the others without reading them.

create index runs_pausing on trueup.runs (checked_at_ms, number, due_at_ms, deadline_at_ms)
    where state = 'scheduling' and executor is null;
create index runs_claimed on trueup.runs (checked_at_ms, number, due_at_ms, executor)
    where state = 'scheduling' and executor is not null;
create index runs_handed_off on trueup.runs (checked_at_ms, number, due_at_ms) where state = 'scheduled';
create index runs_leased on trueup.runs (checked_at_ms, number, due_at_ms) where state = 'running';
create index runs_retried on trueup.runs (checked_at_ms, number, deadline_at_ms)
    where state in ('scheduling', 'scheduled') and executor is null and deadline_at_ms is not null;

-- Whose event has which position; SQLite has both in one table, and so in one index.
alter table trueup.event_positions add column tenant_id text;
update trueup.event_positions as p set tenant_id = e.tenant_id from trueup.events as e where e.event_id = p.event_id;
create index events_of_a_tenant on trueup.event_positions (tenant_id, position);

-- An older trueup beside this one gives positions without saying whose.
create function trueup.name_tenant() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    new.tenant_id := (select tenant_id from trueup.events where event_id = new.event_id);
    return new;
end $$;
revoke all on function trueup.name_tenant() from public;
create trigger positions_name_the_tenant before insert on trueup.event_positions for each row
    when (new.tenant_id is null) execute function trueup.name_tenant();
