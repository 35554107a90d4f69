create schema if not exists trueup;
create table if not exists trueup.migrations (
    version bigint primary key,
    applied_at timestamptz not null default clock_timestamp()
);
