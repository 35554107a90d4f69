-- Compares and orders by all columns of the index, so that the planner cannot take the order of positions alone, which a run would be far down in.
select p.position, event_id, e.tenant_id, e.run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here, mark
from trueup.event_positions as p
join trueup.events as e using (event_id)
where (p.run_id, p.position) > ($1, 0) and p.run_id <= $1 and p.tenant_id = $2 and type in ('run.stage.started', 'run.stage.completed', 'run.stage.errored') and mark is null
order by p.run_id, p.position
limit $3
