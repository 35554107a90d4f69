-- The entry for SQL users: a run is asked for in their own transaction. SQLite has a view for it.

-- Who the caller is for us: never what they say, only who they are logged in as.
create function trueup.tenant_of_caller() returns text language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    tenant text := (select tenant_id from trueup.callers where role = session_user);
begin
    if tenant is null then
        if (select count(*) from (select from trueup.tenants limit 2) as counted) <> 1 then
            raise exception 'the database user "%" is of no tenant', session_user
                using errcode = 'insufficient_privilege', hint = 'Add the user to the table trueup.callers.';
        end if;
        tenant := (select id from trueup.tenants);
    end if;
    return tenant;
end $$;

-- An id of the node 1023, which no process has.
create function trueup.next_event_id(now_ms bigint) returns bigint language sql set search_path = pg_catalog, pg_temp as $$
    select ((now_ms - 1704067200000) << 22) | (1023 << 12) | nextval('trueup.sql_events')
$$;

-- Writes an event of the server's, with the data it would give it.
create function trueup.tell(tenant text, run text, type text, now_ms bigint, data json, led_by bigint) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    id bigint := trueup.next_event_id(now_ms);
    at timestamp := timestamp 'epoch' + now_ms * interval '1 ms';
    written text := to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS') || case when now_ms % 1000 = 0 then 'Z' else to_char(at, '.MS"Z"') end;
begin
    insert into trueup.events (event_id, tenant_id, run_id, type, source, time, data, causation_id)
    select id, tenant, run, type, core_source, written, data, led_by from trueup.meta;
    insert into trueup.event_inbox (event_id) values (id);
    return id;
end $$;

-- Lets one more run wait in a queue, one caller at a time; who holds it until the end of a long transaction is not waited for.
create function trueup.admit(tenant text, queue text, max_waiting bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
declare
    waiting bigint;
begin
    begin
        perform pg_advisory_xact_lock(1953723758, hashtext(tenant || '/' || queue));
    exception when lock_not_available then
        raise exception 'the queue "%" is busy: another transaction asks for a run and has not ended', queue
            using errcode = 'lock_not_available', hint = 'Try again; whoever calls start_run should commit soon after.';
    end;
    waiting := (select count(*) from (
        select from trueup.runs as r where r.tenant_id = tenant and r.queue = admit.queue and r.state = 'requested' limit max_waiting
    ) as counted);
    if waiting >= max_waiting then
        raise exception 'the queue "%" is full: % runs wait already, and % may', queue, waiting, max_waiting
            using errcode = 'configuration_limit_exceeded', hint = 'Try again when some have started, or raise the queue''s max_waiting.';
    end if;
end $$;

create function trueup.start_run(job text, params json default '{}') returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    tenant constant text := trueup.tenant_of_caller();
    run constant text := gen_random_uuid();
    found record;
    now_ms bigint;
    led_by bigint;
begin
    select j.id, r.revision, r.queue, r.deadline_ms, r.retries, q.max_waiting into found
    from trueup.jobs as j
    join trueup.job_revisions as r on r.job_id = j.id and r.revision = j.revision
    join trueup.queues as q on q.tenant_id = j.tenant_id and q.name = r.queue
    where j.tenant_id = tenant and j.name = start_run.job;
    if found.id is null then
        raise exception 'there is no job named "%": save it first', job using errcode = 'no_data_found';
    end if;
    if found.max_waiting is not null then
        perform trueup.admit(tenant, found.queue, found.max_waiting);
    end if;

    now_ms := floor(extract(epoch from clock_timestamp()) * 1000);
    insert into trueup.runs (id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries, state, epoch)
    values (run, tenant, found.id, found.revision, found.queue, coalesce(params, '{}'), 'IMMEDIATE', session_user, now_ms, found.deadline_ms, found.retries, 'requested', 0);
    led_by := trueup.tell(tenant, run, 'run.triggered', now_ms,
        format('{"job_id":%s,"mode":"IMMEDIATE","run_id":%s,"tenant_id":%s,"triggered_by":%s}',
            to_json(found.id), to_json(run), to_json(tenant), to_json(session_user::text))::json, null);
    perform trueup.tell(tenant, run, 'execution.requested', now_ms,
        format('{"job_id":%s,"queue":%s,"run_id":%s,"tenant_id":%s}',
            to_json(found.id), to_json(found.queue), to_json(run), to_json(tenant))::json, led_by);
    with entry as (
        insert into trueup.audit (at_ms, tenant_id, actor, action, subject, detail)
        values (now_ms, tenant, session_user, 'trigger', run,
            format('{"job":%s,"queue":%s,"revision":%s}', to_json(job), to_json(found.queue), found.revision)::json)
        returning id
    )
    insert into trueup.audit_inbox (audit_id) select id from entry;
    perform pg_notify('trueup_committed', '');
    return run;
end $$;

revoke all on all functions in schema trueup from public;

-- For params of another type; the one for text is what a literal is meant for, which would otherwise be ambiguous. They may do only what their caller may,
-- so that everybody may call them.
create function trueup.start_run(job text, params jsonb) returns text
language sql set search_path = pg_catalog, pg_temp as 'select trueup.start_run(job, params::json)';
create function trueup.start_run(job text, params text) returns text
language sql set search_path = pg_catalog, pg_temp as 'select trueup.start_run(job, params::json)';

-- Roles are the cluster's: another database may be making it at this moment, which no lock of this one prevents.
do $$
begin
    create role trueup_start nologin;
exception
    when duplicate_object or unique_violation then null;
    when insufficient_privilege then
        raise notice 'the role trueup_start was not made: who may create roles has to, and grant it usage on the schema trueup and execute on trueup.start_run(text, json)';
end $$;

do $$
begin
    if exists (select from pg_roles where rolname = 'trueup_start') then
        grant usage on schema trueup to trueup_start;
        grant execute on function trueup.start_run(text, json) to trueup_start;
    end if;
end $$;
