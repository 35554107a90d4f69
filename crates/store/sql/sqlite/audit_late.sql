-- Only here: what became visible is in PostgreSQL's inbox whatever its id is. One that is linked already came with those before it.
select id, at_ms, tenant_id, actor, action, subject, detail
from audit_late
join audit on audit.id = audit_late.audit_id
where not exists (select 1 from audit_chain where audit_chain.audit_id = audit_late.audit_id)
order by audit_late.audit_id
