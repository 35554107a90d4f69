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

-- What lists of runs are narrowed by: the time of asking, which is turned into numbers, the verdict, and of one job the verdict or, of runs without one, the state.
create index runs_by_time on trueup.runs (tenant_id, requested_at_ms, number);
create index runs_of_a_verdict on trueup.runs (tenant_id, verdict, number) where verdict is not null;
create index runs_of_a_job_in_a_state on trueup.runs (job_id, coalesce(verdict, state), number);

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
