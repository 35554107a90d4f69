select audit_chain.number, audit.id, at_ms, audit.tenant_id, actor, action, subject, detail
from audit_chain
join audit on audit.id = audit_chain.audit_id
where audit_chain.number > ?1
order by audit_chain.number
limit ?2
