-- The entry for SQL users: `insert into start_run (job, params) values ('nightly', '{}')`, in their own transaction.
-- PostgreSQL has the function trueup.start_run instead, which SQLite cannot have. Its messages are constant and its times are Julian days, because the SQLite
-- of a user may be older than ours and would not read a schema that says more.

create view start_run (job, params, run_id) as
select jobs.name, runs.params, runs.id
from runs
join jobs on jobs.id = runs.job_id
where runs.triggered_by = 'sql';

create trigger start_run_commits_an_intent instead of insert on start_run begin
    select raise(abort, 'start_run: the store gives a run its id')
    where new.run_id is not null;
    select raise(abort, 'start_run: params must be JSON')
    where not json_valid(coalesce(new.params, '{}'));
    select raise(abort, 'start_run: there is no job of that name: save it first')
    where not exists (select 1 from jobs where name = new.job);
    select raise(abort, 'start_run: several tenants have a job of that name: ask for the run through the API')
    where (select count(*) from jobs where name = new.job) > 1;
    select raise(abort, 'start_run: the queue is full: try again when some of its runs have started, or raise its max_waiting')
    from jobs
    join job_revisions on job_revisions.job_id = jobs.id and job_revisions.revision = jobs.revision
    join queues on queues.tenant_id = jobs.tenant_id and queues.name = job_revisions.queue
    where jobs.name = new.job
        and queues.max_waiting <= (
            select count(*) from runs
            where state = 'requested' and runs.tenant_id = queues.tenant_id and runs.queue = queues.name
        );

    insert into runs (id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries, state, epoch)
    select
        -- A UUID of version 7.
        lower(substr(printf('%012x', now_ms), 1, 8) || '-' || substr(printf('%012x', now_ms), 9) || '-7' || substr(hex(randomblob(2)), 2)
            || '-' || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))),
        jobs.tenant_id, jobs.id, jobs.revision, queue, coalesce(new.params, '{}'), 'IMMEDIATE', 'sql', now_ms, deadline_ms, retries, 'requested', 0
    from jobs
    join job_revisions on job_revisions.job_id = jobs.id and job_revisions.revision = jobs.revision
    join (select cast(round((julianday('now') - 2440587.5) * 86400000) as integer) as now_ms)
    where jobs.name = new.job;

    -- 41 bits of milliseconds since 2024, 10 of the node, which is 1023 here, and 12 of a sequence.
    update meta set sql_events = sql_events + 2;
    insert into events (event_id, tenant_id, run_id, type, source, time, data)
    select ((requested_at_ms - 1704067200000) << 22) | (1023 << 12) | ((sql_events - 2) & 4095), tenant_id, id,
        'run.triggered', core_source, strftime('%Y-%m-%dT%H:%M:%fZ', requested_at_ms / 1000.0, 'unixepoch'),
        json_object('job_id', job_id, 'mode', mode, 'run_id', id, 'tenant_id', tenant_id, 'triggered_by', triggered_by)
    from runs, meta
    where number = (select max(number) from runs);
    insert into events (event_id, tenant_id, run_id, type, source, time, data, causation_id)
    select ((requested_at_ms - 1704067200000) << 22) | (1023 << 12) | ((sql_events - 1) & 4095), tenant_id, id,
        'execution.requested', core_source, strftime('%Y-%m-%dT%H:%M:%fZ', requested_at_ms / 1000.0, 'unixepoch'),
        json_object('job_id', job_id, 'queue', queue, 'run_id', id, 'tenant_id', tenant_id),
        ((requested_at_ms - 1704067200000) << 22) | (1023 << 12) | ((sql_events - 2) & 4095)
    from runs, meta
    where number = (select max(number) from runs);

    insert into audit (at_ms, tenant_id, actor, action, subject, detail)
    select requested_at_ms, tenant_id, triggered_by, 'trigger', id, json_object('job', new.job, 'queue', queue, 'revision', revision)
    from runs
    where number = (select max(number) from runs);
end;
