select position, event_id, tenant_id, run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here, mark
from events
where position > ?1
order by position
limit ?2
