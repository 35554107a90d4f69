select position, event_id, tenant_id, run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here, mark
from events indexed by events_of_a_run
where run_id = ?1 and tenant_id = ?2 and type in ('run.stage.started', 'run.stage.completed', 'run.stage.errored') and mark is null
order by position
limit ?3
