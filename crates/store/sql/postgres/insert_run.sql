insert into trueup.runs (id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries, state, epoch)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
