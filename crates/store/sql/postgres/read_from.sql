select p.position, event_id, e.tenant_id, e.run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here, mark
from trueup.event_positions as p
join trueup.events as e using (event_id)
where p.position > $1
order by p.position
limit $2
