-- A repetition fails here, and is looked at then: to skip it would use up a position and leave a gap.
insert into events (event_id, tenant_id, run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
