-- Compares and orders by all columns of the index, so that the planner cannot take the order of numbers alone, which a rare tenant would be far down in.
select c.number, a.id, a.at_ms, a.tenant_id, a.actor, a.action, a.subject, a.detail
from trueup.audit_chain as c
join trueup.audit as a on a.id = c.audit_id
where (c.tenant_id, c.number) > ($2, $1) and c.tenant_id <= $2
order by c.tenant_id, c.number
limit $3
