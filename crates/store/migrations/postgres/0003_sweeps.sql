-- What sweeps look for, each in an index of its own that has what they filter by, so that they pass over the others without reading them.

create index runs_retried on trueup.runs (checked_at_ms, number, deadline_at_ms)
    where state in ('scheduling', 'scheduled') and executor is null and deadline_at_ms is not null;
