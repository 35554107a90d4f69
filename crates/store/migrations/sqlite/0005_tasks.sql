-- What background tasks did last, and what finds old runs.

create table passes (
    task text not null,
    instance text not null,
    at_ms integer not null,
    took_ms integer not null,
    seen integer not null,
    done integer not null,
    note text,
    primary key (task, instance)
) strict, without rowid;

create index runs_finished on runs (finished_at_ms, number) where finished_at_ms is not null;
