-- The first schema: the tables of SQLite, in a schema of their own. Comments say where they differ.

create table trueup.meta (
    only_row bigint primary key check (only_row = 1),
    -- The next writer's number in its event ids; 1023 is kept for SQL users.
    next_node bigint not null check (next_node between 0 and 1022),
    -- The last place in the log that is taken. SQLite counts by itself.
    last_position bigint not null check (last_position >= 0),
    -- What the events of SQL users name as their source: the server's setting, which SQL cannot see.
    core_source text not null
);
insert into trueup.meta values (1, 0, 0, '/datarecs/core-api');

-- Counts the event ids that SQL users have made. A row would make them wait for each other's transactions.
create sequence trueup.sql_events minvalue 0 maxvalue 4095 cycle;

create table trueup.tenants (
    id text primary key,
    name text not null unique
);

create table trueup.queues (
    tenant_id text not null references trueup.tenants,
    name text not null,
    max_running bigint check (max_running between 1 and 4294967295),
    max_waiting bigint check (max_waiting between 0 and 4294967295),
    primary key (tenant_id, name)
);

create table trueup.jobs (
    id text primary key,
    tenant_id text not null references trueup.tenants,
    name text not null,
    -- The revision that new runs get.
    revision bigint not null,
    unique (tenant_id, name)
);

create table trueup.job_revisions (
    job_id text not null references trueup.jobs,
    revision bigint not null check (revision > 0),
    document json not null,
    queue text not null,
    deadline_ms bigint not null check (deadline_ms > 0),
    retries bigint not null check (retries between 0 and 4294967295),
    saved_at_ms bigint not null,
    saved_by text not null,
    primary key (job_id, revision)
);

create table trueup.runs (
    -- The order in which runs were asked for: first in, first out.
    number bigint generated always as identity primary key,
    id text not null unique,
    tenant_id text not null references trueup.tenants,
    job_id text not null,
    revision bigint not null,
    queue text not null,
    params json not null,
    mode text not null check (mode in ('IMMEDIATE', 'SCHEDULED')),
    triggered_by text not null,
    requested_at_ms bigint not null,
    deadline_ms bigint not null check (deadline_ms > 0),
    retries bigint not null check (retries between 0 and 4294967295),

    state text not null check (state in ('requested', 'scheduling', 'scheduled', 'running',
        'completed', 'failed', 'timeout', 'cancelled', 'abandoned')),
    epoch bigint not null check (epoch >= 0),
    -- Of a claim: who holds it. Without one, a run that is scheduling pauses between submits or attempts.
    executor text,
    -- From when on a sweep may act: a claim is stale, a pause is over, a hand-off is old, a lease has run out.
    due_at_ms bigint,
    submits bigint,
    attempt bigint,
    worker text,
    deadline_at_ms bigint,
    finished_at_ms bigint,
    verdict text check (verdict in ('MATCHED', 'UNMATCHED')),
    error json,
    cancel json,
    beside json,
    -- When a sweep last looked, so that it looks at all in turn.
    checked_at_ms bigint not null default 0,
    -- When the engine was last told that somebody wants it to end.
    withdrawn_at_ms bigint,

    foreign key (job_id, revision) references trueup.job_revisions,
    foreign key (tenant_id, queue) references trueup.queues,
    constraint requested_has_no_owner check (state <> 'requested' or (executor is null and worker is null and due_at_ms is null and submits is null and attempt is null)),
    constraint scheduling_has_an_executor_or_a_pause check (state <> 'scheduling' or (due_at_ms is not null and submits is not null and attempt is not null and worker is null)),
    constraint scheduled_has_no_owner check (state <> 'scheduled' or (due_at_ms is not null and submits is not null and attempt is not null and executor is null and worker is null)),
    constraint running_has_a_lease check ((state = 'running') = (worker is not null)),
    constraint running_has_a_deadline check (state <> 'running' or (due_at_ms is not null and submits is not null and attempt is not null and deadline_at_ms is not null)),
    constraint only_scheduling_has_an_executor check (executor is null or state = 'scheduling'),
    constraint terminal_has_a_finish_time check ((state in ('completed', 'failed', 'timeout', 'cancelled', 'abandoned')) = (finished_at_ms is not null)),
    constraint terminal_has_no_lease check (finished_at_ms is null or due_at_ms is null),
    constraint completed_has_a_verdict check ((state = 'completed') = (verdict is not null)),
    constraint failed_has_an_error check ((state in ('failed', 'timeout', 'abandoned')) = (error is not null)),
    constraint cancelled_names_who check (state <> 'cancelled' or cancel is not null),
    constraint second_outcome_follows_a_first check (beside is null or finished_at_ms is not null)
);

create index runs_waiting on trueup.runs (tenant_id, queue, number) where state = 'requested';
create index runs_holding_a_slot on trueup.runs (tenant_id, queue) where state in ('scheduling', 'scheduled', 'running');
create index runs_to_take on trueup.runs (number) where state = 'scheduled';
create index runs_of_a_tenant on trueup.runs (tenant_id, number);
create index runs_in_a_state on trueup.runs (tenant_id, state, number);
create index runs_of_a_job on trueup.runs (job_id, number);

-- Without the position, which SQLite has as the row's own number: here a later number may commit first, so the sequencer gives positions.
create table trueup.events (
    event_id bigint primary key check (event_id >= 0),
    tenant_id text not null,
    run_id text not null,
    type text not null,
    source text not null,
    time text not null,
    data json not null,
    causation_id bigint,
    traceparent text,
    extensions json,
    details json,
    -- Whether the time is that of the arrival, because the producer gave none.
    stamped_here boolean not null default false
);

-- Of runs of our own, whose ids are UUIDs; what others tell of theirs, which have numbers, is kept as it comes.
create unique index one_end_is_told on trueup.events (run_id) where type in ('run.finalised', 'run.cancelled') and length(run_id) = 36;

-- Events that have no position yet, in the order in which they were written.
create table trueup.event_inbox (
    seq bigint generated always as identity primary key,
    event_id bigint not null
);

-- The log: what became visible, in that order, without gaps.
create table trueup.event_positions (
    position bigint primary key check (position > 0),
    event_id bigint not null unique,
    -- Whose it is, and of which run; SQLite has all in one table, and so in one index.
    tenant_id text not null,
    run_id text not null
);

create table trueup.audit (
    id bigint generated always as identity primary key,
    at_ms bigint not null,
    tenant_id text not null,
    actor text not null,
    action text not null,
    subject text not null,
    detail json not null
);

-- Entries that are not linked yet.
create table trueup.audit_inbox (
    audit_id bigint primary key
);

-- Links each entry to the one before it. Apart from the entry, which SQL users write too and which they cannot hash.
create table trueup.audit_chain (
    number bigint primary key check (number > 0),
    audit_id bigint not null unique,
    hash bytea not null check (length(hash) = 32),
    -- The entry's, so that a tenant's are found in their order.
    tenant_id text not null
);
create index audit_of_a_tenant on trueup.audit_chain (tenant_id, number);

create function trueup.refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_loses_no_entry before update or delete or truncate on trueup.audit execute function trueup.refuse_change();
create trigger audit_chain_loses_no_link before update or delete or truncate on trueup.audit_chain execute function trueup.refuse_change();

create function trueup.refuse() returns trigger language plpgsql as $$
begin
    raise exception '%', tg_argv[0] using errcode = 'check_violation', constraint = tg_name;
end $$;
create trigger events_are_never_changed before update on trueup.events execute function trueup.refuse('an event is never changed');
-- A second outcome may still come beside the first, once. JSON is compared as it is written, since it knows no equality.
create trigger runs_stay_ended before update on trueup.runs for each row
    when (old.finished_at_ms is not null and (
        (new.state, new.epoch, new.finished_at_ms, new.verdict, new.error::text, new.cancel::text)
            is distinct from (old.state, old.epoch, old.finished_at_ms, old.verdict, old.error::text, old.cancel::text)
        or (old.beside is not null and new.beside::text is distinct from old.beside::text)
    )) execute function trueup.refuse('a run that has ended stays so');
create trigger runs_never_get_an_earlier_owner before update on trueup.runs for each row
    when (new.epoch < old.epoch) execute function trueup.refuse('the epoch of a run never falls');

-- Ends the transaction unless every run that was to change did, so that the commit can be sent along with the change.
create function trueup.expect_changes(expected bigint, changed bigint) returns void language plpgsql as $$
begin
    if changed <> expected then
        raise exception '% of % runs are what they were loaded as', changed, expected using errcode = 'serialization_failure';
    end if;
end $$;

-- For which tenant a database user starts runs, where there is more than one.
create table trueup.callers (
    role text primary key,
    tenant_id text not null references trueup.tenants
);
