select position, event_id, tenant_id, run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here, mark
from events indexed by events_of_a_tenant
where tenant_id = ?2 and position > ?1
order by position
limit ?3
