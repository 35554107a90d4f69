-- Compares and orders by all columns of the index, so that the planner cannot take the order of positions alone, which a rare tenant would be far down in.
select p.position, event_id, e.tenant_id, e.run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here, mark
from trueup.event_positions as p
join trueup.events as e using (event_id)
where (p.tenant_id, p.position) > ($2, $1) and p.tenant_id <= $2
order by p.tenant_id, p.position
limit $3
