-- What background tasks did last, and what finds old runs.

create table trueup.passes (
    task text not null,
    instance text not null,
    at_ms bigint not null,
    took_ms bigint not null,
    seen bigint not null,
    done bigint not null,
    note text,
    primary key (task, instance)
);

create index runs_finished on trueup.runs (finished_at_ms, number) where finished_at_ms is not null;
