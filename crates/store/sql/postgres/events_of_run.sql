-- The run's events are looked up first, whatever the planner believes: following the whole log for them would take long.
with told as materialized (
    select event_id, tenant_id, run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here
    from trueup.events
    where run_id = $1 and tenant_id = $4
)
select p.position, told.*
from told
join trueup.event_positions as p using (event_id)
where p.position > $2
order by p.position
limit $3
