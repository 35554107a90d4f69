-- Executions that something else started, and events from outside that move nothing.

alter table trueup.events add column mark text constraint events_mark_check check (mark in ('illegal', 'stale', 'noted'));

-- What others tell of an end may come again, and of an execution that two tenants observe: only what counts is told once, of each tenant.
drop index trueup.one_end_is_told;
create unique index one_end_is_told on trueup.events (tenant_id, run_id)
    where type in ('run.finalised', 'run.cancelled') and length(run_id) = 36 and mark is null;

create table trueup.observed (
    -- From the numbers of runs, so that both kinds have one order.
    number bigint primary key default nextval('trueup.runs_number_seq'),
    id text not null,
    tenant_id text not null references trueup.tenants,
    -- What is executed, if an event says so.
    name text,
    state text not null check (state in ('requested', 'scheduling', 'scheduled', 'running',
        'completed', 'failed', 'timeout', 'cancelled', 'abandoned')),
    -- Pairs of a name and a state, in the order in which they were heard of.
    steps json not null,
    cancel json,
    opened_at_ms bigint not null,
    -- When it was last heard of before its end.
    updated_at_ms bigint not null,
    finished_at_ms bigint,
    -- Counts the writes, so that each asks for the one before.
    changes bigint not null check (changes >= 0),
    unique (id, tenant_id),
    constraint observed_end_has_a_time check ((state in ('completed', 'failed', 'timeout', 'cancelled', 'abandoned')) = (finished_at_ms is not null))
);

create index observed_of_a_tenant on trueup.observed (tenant_id, number);
create index observed_in_a_state on trueup.observed (tenant_id, state, number);
create index observed_by_time on trueup.observed (tenant_id, opened_at_ms, number);
create index observed_going_on on trueup.observed (tenant_id, number) where finished_at_ms is null;
create index observed_finished on trueup.observed (finished_at_ms, number) where finished_at_ms is not null;

create trigger observed_stay_ended before update on trueup.observed for each row
    when (old.finished_at_ms is not null) execute function trueup.refuse('an observed execution that has ended stays so');

select trueup.fence('trueup.observed');
