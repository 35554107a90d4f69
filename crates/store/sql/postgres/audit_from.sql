select c.number, a.id, a.at_ms, a.tenant_id, a.actor, a.action, a.subject, a.detail
from trueup.audit_chain as c
join trueup.audit as a on a.id = c.audit_id
where c.number > $1
order by c.number
limit $2
