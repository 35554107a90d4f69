-- When a run was last told of is in the id of its last event: milliseconds since 2024 above 22 bits.
select number, id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries,
    state, epoch, executor, due_at_ms, submits, attempt, worker, deadline_at_ms, finished_at_ms, verdict, error, cancel, beside
from runs indexed by runs_in_a_state
where tenant_id = ?1 and state in ('requested', 'scheduling', 'scheduled', 'running') and requested_at_ms < ?2
    and (select (event_id >> 22) + 1704067200000 from events indexed by events_of_a_run where run_id = runs.id order by position desc limit 1) < ?2
order by number
limit ?3
