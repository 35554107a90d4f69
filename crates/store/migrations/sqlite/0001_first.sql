-- The first schema. PostgreSQL has the same tables; comments say where it must differ.
-- SQLite before 3.45, which SQL users may have, calls NULL no valid JSON, so that NULL is asked for first.
-- Of more than two values a column is compared with each: for `in` SQLite would make a small table at every write.

create table meta (
    only_row integer primary key check (only_row = 1),
    -- The next writer's number in its event ids; 1023 is kept for SQL users.
    next_node integer not null check (next_node between 0 and 1022),
    -- Counts the event ids that SQL users have made.
    sql_events integer not null,
    -- What the events of SQL users name as their source: the server writes it down, since SQL cannot see its settings.
    core_source text not null default '/datarecs/core-api'
) strict;
insert into meta (only_row, next_node, sql_events) values (1, 0, 0);

create table tenants (
    id text primary key,
    name text not null unique
) strict, without rowid;

create table queues (
    tenant_id text not null references tenants,
    name text not null,
    max_running integer check (max_running between 1 and 4294967295),
    max_waiting integer check (max_waiting between 0 and 4294967295),
    primary key (tenant_id, name)
) strict, without rowid;

create table jobs (
    id text primary key,
    tenant_id text not null references tenants,
    name text not null,
    -- The revision that new runs get.
    revision integer not null,
    unique (tenant_id, name)
) strict, without rowid;

create table job_revisions (
    job_id text not null references jobs,
    revision integer not null check (revision > 0),
    document text not null check (json_valid(document)),
    queue text not null,
    deadline_ms integer not null check (deadline_ms > 0),
    retries integer not null check (retries between 0 and 4294967295),
    saved_at_ms integer not null,
    saved_by text not null,
    primary key (job_id, revision)
) strict;

create table runs (
    -- The order in which runs were asked for: first in, first out.
    number integer primary key autoincrement,
    id text not null unique,
    tenant_id text not null references tenants,
    job_id text not null,
    revision integer not null,
    queue text not null,
    params text not null check (json_valid(params)),
    mode text not null check (mode in ('IMMEDIATE', 'SCHEDULED')),
    triggered_by text not null,
    requested_at_ms integer not null,
    deadline_ms integer not null check (deadline_ms > 0),
    retries integer not null check (retries between 0 and 4294967295),

    state text not null constraint state_is_known check (state = 'requested' or state = 'scheduling' or state = 'scheduled' or state = 'running'
        or state = 'completed' or state = 'failed' or state = 'timeout' or state = 'cancelled' or state = 'abandoned'),
    epoch integer not null check (epoch >= 0),
    -- Of a claim: who holds it. Without one, a run that is scheduling pauses between submits or attempts.
    executor text,
    -- From when on a sweep may act: a claim is stale, a pause is over, a hand-off is old, a lease has run out.
    due_at_ms integer,
    submits integer,
    attempt integer,
    worker text,
    deadline_at_ms integer,
    finished_at_ms integer,
    verdict text check (verdict in ('MATCHED', 'UNMATCHED')),
    error text check (error is null or json_valid(error)),
    cancel text check (cancel is null or json_valid(cancel)),
    beside text check (beside is null or json_valid(beside)),
    -- When a sweep last looked, so that it looks at all in turn.
    checked_at_ms integer not null default 0,
    -- When the engine was last told that somebody wants it to end.
    withdrawn_at_ms integer,

    foreign key (job_id, revision) references job_revisions,
    foreign key (tenant_id, queue) references queues,
    constraint requested_has_no_owner check (state <> 'requested' or coalesce(executor, worker, due_at_ms, submits, attempt) is null),
    constraint scheduling_has_an_executor_or_a_pause check (state <> 'scheduling' or (due_at_ms is not null and submits is not null and attempt is not null and worker is null)),
    constraint scheduled_has_no_owner check (state <> 'scheduled' or (due_at_ms is not null and submits is not null and attempt is not null and executor is null and worker is null)),
    constraint running_has_a_lease check ((state = 'running') = (worker is not null)),
    constraint running_has_a_deadline check (state <> 'running' or (due_at_ms is not null and submits is not null and attempt is not null and deadline_at_ms is not null)),
    constraint only_scheduling_has_an_executor check (executor is null or state = 'scheduling'),
    constraint terminal_has_a_finish_time check ((state = 'completed' or state = 'failed' or state = 'timeout' or state = 'cancelled' or state = 'abandoned') = (finished_at_ms is not null)),
    constraint terminal_has_no_lease check (finished_at_ms is null or due_at_ms is null),
    constraint completed_has_a_verdict check ((state = 'completed') = (verdict is not null)),
    constraint failed_has_an_error check ((state = 'failed' or state = 'timeout' or state = 'abandoned') = (error is not null)),
    constraint cancelled_names_who check (state <> 'cancelled' or cancel is not null),
    constraint second_outcome_follows_a_first check (beside is null or finished_at_ms is not null)
) strict;

create index runs_waiting on runs (tenant_id, queue, number) where state = 'requested';
create index runs_holding_a_slot on runs (tenant_id, queue) where (state = 'scheduling' or state = 'scheduled' or state = 'running');
create index runs_to_take on runs (number) where state = 'scheduled';
create index runs_of_a_tenant on runs (tenant_id, number);
create index runs_in_a_state on runs (tenant_id, state, number);
create index runs_of_a_job on runs (job_id, number);

create table events (
    -- Commits become visible one after the other here, so that the row's own number is the order.
    position integer primary key autoincrement,
    event_id integer not null unique,
    tenant_id text not null,
    run_id text not null,
    type text not null,
    source text not null,
    time text not null,
    -- Whether the time is that of the arrival, because the producer gave none.
    stamped_here integer not null default 0 check (stamped_here in (0, 1)),
    data text not null check (json_valid(data)),
    causation_id integer,
    traceparent text,
    extensions text check (extensions is null or json_valid(extensions)),
    details text check (details is null or json_valid(details))
) strict;

create index events_of_a_run on events (run_id, position);
-- Of runs of our own, whose ids are UUIDs; what others tell of theirs, which have numbers, is kept as it comes.
create unique index one_end_is_told on events (run_id) where type in ('run.finalised', 'run.cancelled') and length(run_id) = 36;

create table audit (
    id integer primary key autoincrement,
    at_ms integer not null,
    tenant_id text not null,
    actor text not null,
    action text not null,
    subject text not null,
    detail text not null check (json_valid(detail))
) strict;

-- Entries whose ids a SQL user has chosen below those that were there: who links looks only behind those that are linked. PostgreSQL has all that wait in
-- an inbox.
create table audit_late (
    audit_id integer primary key
) strict;
create trigger audit_notes_what_is_late after insert on audit when new.id < (select max(id) from audit)
begin insert into audit_late (audit_id) values (new.id); end;

-- Links each entry to the one before it. Apart from the entry, which SQL users write too and which they cannot hash.
create table audit_chain (
    number integer primary key check (number > 0),
    audit_id integer not null unique,
    hash blob not null check (length(hash) = 32),
    -- The entry's, so that a tenant's are found in their order.
    tenant_id text not null
) strict;
create index audit_of_a_tenant on audit_chain (tenant_id, number);

create trigger audit_keeps_its_entries before update on audit begin select raise(abort, 'the audit log is append-only'); end;
create trigger audit_loses_no_entry before delete on audit begin select raise(abort, 'the audit log is append-only'); end;
create trigger audit_chain_keeps_its_links before update on audit_chain begin select raise(abort, 'the audit log is append-only'); end;
create trigger audit_chain_loses_no_link before delete on audit_chain begin select raise(abort, 'the audit log is append-only'); end;
-- A row that replaces another deletes it without a word to the triggers above, nor to those of events and runs below.
create trigger audit_replaces_no_entry before insert on audit when exists (select 1 from audit where id = new.id)
begin select raise(abort, 'the audit log is append-only'); end;
create trigger audit_chain_replaces_no_link before insert on audit_chain
when exists (select 1 from audit_chain where number = new.number or audit_id = new.audit_id)
begin select raise(abort, 'the audit log is append-only'); end;
create trigger events_are_never_changed before update on events begin select raise(abort, 'an event is never changed'); end;
create trigger events_are_never_replaced before insert on events
when exists (select 1 from events where event_id = new.event_id)
    or (new.position > 0 and exists (select 1 from events where position = new.position))
    or ((new.type = 'run.finalised' or new.type = 'run.cancelled') and length(new.run_id) = 36
        and exists (select 1 from events where run_id = new.run_id and type in ('run.finalised', 'run.cancelled') and length(run_id) = 36))
begin select raise(abort, 'an event is never replaced'); end;

create trigger runs_are_never_replaced before insert on runs
when exists (select 1 from runs where id = new.id) or exists (select 1 from runs where number = new.number)
begin select raise(abort, 'a run is never replaced'); end;
-- Nor by another that takes its name.
create trigger runs_keep_their_names before update of number, id on runs begin select raise(abort, 'a run keeps its number and its id'); end;
-- A second outcome may still come beside the first, once.
create trigger runs_stay_ended before update of state, epoch, finished_at_ms, verdict, error, cancel, beside on runs
when old.finished_at_ms is not null and (
    new.state <> old.state or new.epoch <> old.epoch or new.finished_at_ms is not old.finished_at_ms
    or new.verdict is not old.verdict or new.error is not old.error or new.cancel is not old.cancel
    or (old.beside is not null and new.beside is not old.beside)
)
begin select raise(abort, 'a run that has ended stays so'); end;
create trigger runs_never_get_an_earlier_owner before update of epoch on runs when new.epoch < old.epoch
begin select raise(abort, 'the epoch of a run never falls'); end;
