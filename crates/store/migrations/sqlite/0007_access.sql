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
