-- All of them in one statement; SQLite takes one after the other.
insert into trueup.observed (id, tenant_id, name, state, steps, cancel, opened_at_ms, updated_at_ms, finished_at_ms, changes)
select * from unnest(
    $1::text[], $2::text[], $3::text[], $4::text[], $5::json[], $6::json[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[]
)
