select audit_chain.number, audit_chain.hash, audit.id, at_ms, audit.tenant_id, actor, action, subject, detail
from audit_chain
left join audit on audit.id = audit_chain.audit_id
order by audit_chain.number
