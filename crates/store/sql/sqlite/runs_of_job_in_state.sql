select number, id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries,
    state, epoch, executor, due_at_ms, submits, attempt, worker, deadline_at_ms, finished_at_ms, verdict, error, cancel, beside
from runs indexed by runs_of_a_job_in_a_state
where job_id = ?7 and coalesce(verdict, state) = ?8 and finished_at_ms is not null and tenant_id = ?1 and number < ?2 and number > ?3 and requested_at_ms >= ?4 and requested_at_ms < ?5
order by number desc
limit ?6
