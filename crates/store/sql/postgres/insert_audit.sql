with entry as (
    insert into trueup.audit (at_ms, tenant_id, actor, action, subject, detail)
    select at_ms, tenant_id, actor, action, subject, detail
    from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::json[])
        with ordinality as g (at_ms, tenant_id, actor, action, subject, detail, place)
    order by place
    returning id
)
insert into trueup.audit_inbox (audit_id) select id from entry
