-- Compares and orders by all columns of the index, so that the planner cannot take the order of numbers alone, which a rare job would be far down in.
select number, id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries,
    state, epoch, executor, due_at_ms, submits, attempt, worker, deadline_at_ms, finished_at_ms, verdict, error, cancel, beside
from trueup.runs
where (job_id, number) < ($4, coalesce($2, 9223372036854775807)) and job_id >= $4 and tenant_id = $1 and (cardinality($5::text[]) = 0 or state = any ($5))
order by job_id desc, number desc
limit $3
