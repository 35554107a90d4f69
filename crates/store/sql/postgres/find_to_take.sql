-- Leaves alone what another transaction holds; SQLite has one writer.
select number, id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries,
    state, epoch, executor, due_at_ms, submits, attempt, worker, deadline_at_ms, finished_at_ms, verdict, error, cancel, beside
from trueup.runs
where state = 'scheduled' and (deadline_at_ms is null or deadline_at_ms > coalesce($1, floor(extract(epoch from clock_timestamp()) * 1000)::bigint))
order by number
limit $2
for update skip locked
