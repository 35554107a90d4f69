-- Only here: what became visible is in PostgreSQL's inbox whatever its id is. One that is linked already came with those before it.
-- The order of a cross join stays: however few rows a planner has counted, those that are late are fewer than the log.
select id, at_ms, tenant_id, actor, action, subject, detail
from audit_late
cross join audit on audit.id = audit_late.audit_id
where not exists (select 1 from audit_chain where audit_chain.audit_id = audit_late.audit_id)
order by audit_late.audit_id
