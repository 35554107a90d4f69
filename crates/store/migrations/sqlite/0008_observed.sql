-- Executions that something else started, and events from outside that move nothing.

alter table events add column mark text check (mark in ('illegal', 'stale', 'noted'));

-- What others tell of an end may come again, and of an execution that two tenants observe: only what counts is told once, of each tenant.
drop index one_end_is_told;
create unique index one_end_is_told on events (tenant_id, run_id)
    where type in ('run.finalised', 'run.cancelled') and length(run_id) = 36 and mark is null;
drop trigger events_are_never_replaced;
create trigger events_are_never_replaced before insert on events
when exists (select 1 from events where event_id = new.event_id)
    or (new.position > 0 and exists (select 1 from events where position = new.position))
    or ((new.type = 'run.finalised' or new.type = 'run.cancelled') and length(new.run_id) = 36 and new.mark is null
        and exists (
            select 1 from events
            where tenant_id = new.tenant_id and run_id = new.run_id
                and type in ('run.finalised', 'run.cancelled') and length(run_id) = 36 and mark is null
        ))
begin select raise(abort, 'an event is never replaced'); end;

create table observed (
    -- From the numbers of runs, so that both kinds have one order.
    number integer primary key,
    id text not null,
    tenant_id text not null references tenants,
    -- What is executed, if an event says so.
    name text,
    state text not null constraint observed_state_is_known check (state = 'requested' or state = 'scheduling' or state = 'scheduled' or state = 'running'
        or state = 'completed' or state = 'failed' or state = 'timeout' or state = 'cancelled' or state = 'abandoned'),
    -- Pairs of a name and a state, in the order in which they were heard of.
    steps text not null check (json_valid(steps)),
    cancel text check (cancel is null or json_valid(cancel)),
    opened_at_ms integer not null,
    -- When it was last heard of before its end.
    updated_at_ms integer not null,
    finished_at_ms integer,
    -- Counts the writes, so that each asks for the one before.
    changes integer not null check (changes >= 0),
    unique (id, tenant_id),
    constraint observed_end_has_a_time check ((state = 'completed' or state = 'failed' or state = 'timeout' or state = 'cancelled' or state = 'abandoned') = (finished_at_ms is not null))
) strict;

create index observed_of_a_tenant on observed (tenant_id, number);
create index observed_in_a_state on observed (tenant_id, state, number);
create index observed_by_time on observed (tenant_id, opened_at_ms, number);
create index observed_going_on on observed (tenant_id, number) where finished_at_ms is null;
create index observed_finished on observed (finished_at_ms, number) where finished_at_ms is not null;

-- PostgreSQL has a sequence for both. Here the next number of a run is in a table of SQLite's own, which has no row before the first run.
create trigger observed_take_numbers_of_runs after insert on observed begin
    insert into sqlite_sequence (name, seq) select 'runs', 0 where not exists (select 1 from sqlite_sequence where name = 'runs');
    update sqlite_sequence set seq = max(seq, new.number) where name = 'runs';
end;
create trigger observed_are_never_replaced before insert on observed
when exists (select 1 from observed where number = new.number) or exists (select 1 from observed where tenant_id = new.tenant_id and id = new.id)
    or exists (select 1 from runs where number = new.number)
begin select raise(abort, 'an observed execution is never replaced'); end;
create trigger observed_stay_ended before update on observed
when old.finished_at_ms is not null
begin select raise(abort, 'an observed execution that has ended stays so'); end;
