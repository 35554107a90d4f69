select number, id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries,
    state, epoch, executor, due_at_ms, submits, attempt, worker, deadline_at_ms, finished_at_ms, verdict, error, cancel, beside
from runs indexed by runs_to_stop
where ((state = 'running' and cancel is not null) or ((state = 'cancelled' or state = 'timeout' or state = 'abandoned') and withdrawn_at_ms is null))
    and (withdrawn_at_ms is null or withdrawn_at_ms <= ?1)
order by checked_at_ms, number
limit ?2
