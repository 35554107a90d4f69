-- Who may ask for what.

alter table trueup.tenants add column made_at_ms bigint not null default 0;

create table trueup.keys (
    id text primary key,
    tenant_id text not null references trueup.tenants,
    name text not null,
    role text not null constraint role_is_known check (role in ('viewer', 'operator', 'admin', 'ingest', 'worker')),
    -- Of the key's whole text, which is kept nowhere.
    hash bytea not null unique check (length(hash) = 32),
    created_at_ms bigint not null,
    created_by text not null,
    expires_at_ms bigint,
    revoked_at_ms bigint
);
create index keys_of_a_tenant on trueup.keys (tenant_id, id);

-- What lists of runs are narrowed by: the verdict, and of one job the verdict or, of runs without one, the state.
create index runs_of_a_verdict on trueup.runs (tenant_id, verdict, number) where verdict is not null;
-- Only of those that have ended, whose state does not change any more: of the others there are few, and whoever writes them would pay for it each time.
create index runs_of_a_job_in_a_state on trueup.runs (job_id, coalesce(verdict, state), number) where finished_at_ms is not null;

-- How the jobs of a tenant reach their sources; what is secret in it comes encrypted, and leaves so.
create table trueup.connections (
    tenant_id text not null references trueup.tenants,
    name text not null,
    kind text not null,
    settings json not null,
    sealed bytea not null,
    version bigint not null check (version between 1 and 4294967295),
    changed_at_ms bigint not null,
    changed_by text not null,
    primary key (tenant_id, name)
);

-- What requests were answered, so that one that comes again under its key is answered the same.
create table trueup.answers (
    tenant_id text not null references trueup.tenants,
    key text not null,
    request_hash bytea not null check (length(request_hash) = 32),
    status bigint not null check (status between 100 and 599),
    body text not null,
    kept_at_ms bigint not null,
    primary key (tenant_id, key)
);
create index answers_by_age on trueup.answers (kept_at_ms);

-- Reads for a tenant are done as a role that sees that tenant's rows alone, whatever a statement forgets to ask for. Roles are the cluster's: see trueup_start.
do $$
begin
    create role trueup_tenant nologin;
exception
    when duplicate_object or unique_violation then null;
    when insufficient_privilege then
        raise notice 'the role trueup_tenant was not made: statements alone keep tenants apart';
end $$;

-- Who has made a role may grant it to themselves, but may not be it before, and another database may be granting it at this moment.
do $$
begin
    if exists (select from pg_roles where rolname = 'trueup_tenant') and not (select rolsuper from pg_roles where rolname = current_user) then
        execute format('grant trueup_tenant to %I', current_user);
    end if;
exception
    when insufficient_privilege or unique_violation or internal_error then
        raise notice 'the role trueup_tenant was not granted to %: statements alone keep tenants apart', current_user;
end $$;

-- Lets the role see the rows of a table that are the tenant's in the setting trueup.tenant, and everybody else what they see without it. For every table that has a tenant.
create function trueup.fence(fenced regclass, own text default 'tenant_id = (select current_setting(''trueup.tenant'', true))') returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    execute format('alter table %s enable row level security', fenced);
    execute format('create policy all_rows on %s using (true)', fenced);
    if exists (select from pg_roles where rolname = 'trueup_tenant') then
        execute format('create policy own_rows on %s as restrictive to trueup_tenant using (%s)', fenced, own);
        execute format('grant select on %s to trueup_tenant', fenced);
        grant usage on schema trueup to trueup_tenant;
    end if;
end $$;
revoke execute on function trueup.fence(regclass, text) from public;

select trueup.fence('trueup.tenants', 'id = (select current_setting(''trueup.tenant'', true))');
select trueup.fence('trueup.queues');
select trueup.fence('trueup.jobs');
-- The policy of jobs says whose the job is.
select trueup.fence('trueup.job_revisions', 'exists (select from trueup.jobs as j where j.id = job_id)');
select trueup.fence('trueup.runs');
select trueup.fence('trueup.events');
select trueup.fence('trueup.event_positions');
select trueup.fence('trueup.audit');
select trueup.fence('trueup.audit_chain');
select trueup.fence('trueup.callers');
select trueup.fence('trueup.keys');
select trueup.fence('trueup.connections');
select trueup.fence('trueup.answers');
