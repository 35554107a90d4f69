-- All of them in one statement, which fails unless each still is what it was loaded as; SQLite counts after each.
with changed as (
    update trueup.observed as o
    set name = m.name, state = m.state, steps = m.steps, cancel = m.cancel, updated_at_ms = m.updated_at_ms, finished_at_ms = m.finished_at_ms,
        changes = m.changes
    from unnest(
        $1::text[], $2::text[], $3::text[], $4::text[], $5::json[], $6::json[], $7::bigint[], $8::bigint[], $9::bigint[]
    ) as m (id, tenant_id, name, state, steps, cancel, updated_at_ms, finished_at_ms, changes)
    where o.id = m.id and o.tenant_id = m.tenant_id and o.changes = m.changes - 1
    returning o.id
)
select trueup.expect_changes(cardinality($1), (select count(*) from changed))
