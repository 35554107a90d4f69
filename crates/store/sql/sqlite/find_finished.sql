select number, id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries,
    state, epoch, executor, due_at_ms, submits, attempt, worker, deadline_at_ms, finished_at_ms, verdict, error, cancel, beside
from runs indexed by runs_finished
where finished_at_ms < ?1 and (finished_at_ms, number) > (?2, ?3)
order by finished_at_ms, number
limit ?4
