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

-- What lists of runs are narrowed by: the time of asking, which is turned into numbers, the verdict, and of one job the verdict or, of runs without one, the state.
create index runs_by_time on runs (tenant_id, requested_at_ms, number);
create index runs_of_a_verdict on runs (tenant_id, verdict, number) where verdict is not null;
create index runs_of_a_job_in_a_state on runs (job_id, coalesce(verdict, state), number);
