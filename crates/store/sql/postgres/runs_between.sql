-- Ids of one length, with their hyphens in the same places, are in the same order in every collation.
select number, id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries,
    state, epoch, executor, due_at_ms, submits, attempt, worker, deadline_at_ms, finished_at_ms, verdict, error, cancel, beside
from trueup.runs
where tenant_id = $1 and id between $2 and $3
order by id
limit $4
