-- Many at once, where SQLite looks at one after the other.
select null::bigint, event_id, tenant_id, run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here, mark from trueup.events where event_id = any ($1)
