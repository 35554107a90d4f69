-- All of them in one statement, numbered in their order; SQLite takes one after the other.
insert into trueup.runs (id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries, state, epoch)
select id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries, state, epoch
from unnest(
    $1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::json[], $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::bigint[],
    $12::text[], $13::bigint[]
) with ordinality as g (id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries, state, epoch, place)
order by place
