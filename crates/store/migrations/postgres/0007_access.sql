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
