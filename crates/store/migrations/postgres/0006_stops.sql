-- What the engine is to be told to stop or to drop: what somebody wants to end, and what ended without its word.

create index runs_to_stop on trueup.runs (checked_at_ms, number, withdrawn_at_ms)
    where (state = 'running' and cancel is not null) or (state in ('cancelled', 'timeout', 'abandoned') and withdrawn_at_ms is null);
