select position, event_id, tenant_id, run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here
from events
where run_id = ?1 and position > ?2
order by position
limit ?3
