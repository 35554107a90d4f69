-- A repetition fails here, and is looked at then: to skip it would use up a position and leave a gap. The last line is repeated for more rows.
insert into events (event_id, tenant_id, run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here, mark) values
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
