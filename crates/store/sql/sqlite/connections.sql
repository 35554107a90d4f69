select tenant_id, name, kind, settings, sealed, version, changed_at_ms, changed_by
from connections
where tenant_id = ?1 and name > ?2
order by name
limit ?3
