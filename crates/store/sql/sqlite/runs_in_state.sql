select number, id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries,
    state, epoch, executor, due_at_ms, submits, attempt, worker, deadline_at_ms, finished_at_ms, verdict, error, cancel, beside
from runs indexed by runs_in_a_state
where tenant_id = ?1 and state = ?7 and (?8 is null or job_id = ?8) and number < ?2 and number > ?3 and requested_at_ms >= ?4 and requested_at_ms < ?5
order by number desc
limit ?6
