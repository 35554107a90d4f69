select audit_chain.number, audit.id, at_ms, audit.tenant_id, actor, action, subject, detail
from audit_chain indexed by audit_of_a_tenant
join audit on audit.id = audit_chain.audit_id
where audit_chain.tenant_id = ?2 and audit_chain.number > ?1
order by audit_chain.number
limit ?3
