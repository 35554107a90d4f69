-- Who may ask for what.

alter table tenants add column made_at_ms integer not null default 0;

create table keys (
    id text primary key,
    tenant_id text not null references tenants,
    name text not null,
    role text not null constraint role_is_known check (role = 'viewer' or role = 'operator' or role = 'admin' or role = 'ingest' or role = 'worker'),
    -- Of the key's whole text, which is kept nowhere.
    hash blob not null unique check (length(hash) = 32),
    created_at_ms integer not null,
    created_by text not null,
    expires_at_ms integer,
    revoked_at_ms integer
) strict, without rowid;
create index keys_of_a_tenant on keys (tenant_id, id);

-- What lists of runs are narrowed by: the verdict, and of one job the verdict or, of runs without one, the state.
create index runs_of_a_verdict on runs (tenant_id, verdict, number) where verdict is not null;
-- Only of those that have ended, whose state does not change any more: of the others there are few, and whoever writes them would pay for it each time.
create index runs_of_a_job_in_a_state on runs (job_id, coalesce(verdict, state), number) where finished_at_ms is not null;

-- How the jobs of a tenant reach their sources; what is secret in it comes encrypted, and leaves so.
create table connections (
    tenant_id text not null references tenants,
    name text not null,
    kind text not null,
    settings text not null check (json_valid(settings)),
    sealed blob not null,
    version integer not null check (version between 1 and 4294967295),
    changed_at_ms integer not null,
    changed_by text not null,
    primary key (tenant_id, name)
) strict, without rowid;

-- What requests were answered, so that one that comes again under its key is answered the same.
create table answers (
    tenant_id text not null references tenants,
    key text not null,
    request_hash blob not null check (length(request_hash) = 32),
    status integer not null check (status between 100 and 599),
    body text not null,
    kept_at_ms integer not null,
    primary key (tenant_id, key)
) strict;
create index answers_by_age on answers (kept_at_ms);
