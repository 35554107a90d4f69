-- In the order of their ids, so that two transactions never wait for each other. SQLite loads them one by one, and need not lock.
select number, id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries,
    state, epoch, executor, due_at_ms, submits, attempt, worker, deadline_at_ms, finished_at_ms, verdict, error, cancel, beside
from trueup.runs
where id = any ($1)
order by id
for update
