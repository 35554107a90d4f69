select audit_chain.number, audit.id, at_ms, tenant_id, actor, action, subject, detail
from audit_chain
join audit on audit.id = audit_chain.audit_id
where audit_chain.number > ?1 and (?2 is null or tenant_id = ?2)
order by audit_chain.number
limit ?3
