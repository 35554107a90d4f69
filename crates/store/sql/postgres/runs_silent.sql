-- When a run was last told of is in the id of its last event: milliseconds since 2024 above 22 bits.
-- Compares and orders by all columns of the indexes, so that the planner cannot take the order of numbers or positions alone, which these would be far down in, nor the index of times.
select number, id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries,
    state, epoch, executor, due_at_ms, submits, attempt, worker, deadline_at_ms, finished_at_ms, verdict, error, cancel, beside
from unnest(array['requested', 'scheduling', 'scheduled', 'running']) as wanted (wanted_state)
cross join lateral (
    select * from trueup.runs
    where tenant_id = $1 and (state, number) > (wanted_state, 0) and state <= wanted_state and requested_at_ms + 0 < $2
        and (
            select (event_id >> 22) + 1704067200000 from trueup.event_positions as p
            where (p.run_id, p.position) < (runs.id, 9223372036854775807) and p.run_id >= runs.id
            order by p.run_id desc, p.position desc
            limit 1
        ) < $2
    order by state, number
    limit $3
) as found
order by number
limit $3
