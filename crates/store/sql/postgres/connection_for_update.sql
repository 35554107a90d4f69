-- Locked, so that nobody changes it meanwhile; SQLite has one writer.
select tenant_id, name, kind, settings, sealed, version, changed_at_ms, changed_by
from trueup.connections
where tenant_id = $1 and name = $2
for update
