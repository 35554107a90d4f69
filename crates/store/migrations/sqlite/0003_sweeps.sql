-- What sweeps look for, each in an index of its own that has what they filter by, so that they pass over the others without reading them.

create index runs_pausing on runs (checked_at_ms, number, due_at_ms, deadline_at_ms)
    where state = 'scheduling' and executor is null;
create index runs_claimed on runs (checked_at_ms, number, due_at_ms, executor)
    where state = 'scheduling' and executor is not null;
create index runs_handed_off on runs (checked_at_ms, number, due_at_ms) where state = 'scheduled';
create index runs_leased on runs (checked_at_ms, number, due_at_ms) where state = 'running';
create index runs_retried on runs (checked_at_ms, number, deadline_at_ms)
    where (state = 'scheduling' or state = 'scheduled') and executor is null and deadline_at_ms is not null;

create index events_of_a_tenant on events (tenant_id, position);
