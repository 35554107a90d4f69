-- Compares and orders by all columns of the index, so that the planner cannot take the order of numbers alone, which a rare state would be far down in. Nor the index of times: what `numbers_between` found bounds those.
select number, id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries,
    state, epoch, executor, due_at_ms, submits, attempt, worker, deadline_at_ms, finished_at_ms, verdict, error, cancel, beside
from unnest($7::text[]) as wanted (one)
cross join lateral (
    select * from trueup.runs
    where tenant_id = $1 and ($8::text is null or job_id = $8) and (state, number) < (one, $2) and (state, number) > (one, $3)
        and requested_at_ms + 0 >= $4 and requested_at_ms + 0 < $5
    order by state desc, number desc
    limit $6
) as found
order by number desc
limit $6
