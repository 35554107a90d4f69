select number, id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries,
    state, epoch, executor, due_at_ms, submits, attempt, worker, deadline_at_ms, finished_at_ms, verdict, error, cancel, beside
from runs indexed by runs_to_take
where state = 'scheduled' and (deadline_at_ms is null or deadline_at_ms > coalesce(?1, cast(round((julianday('now') - 2440587.5) * 86400000) as integer)))
order by number
limit ?2
