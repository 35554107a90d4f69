update connections
set kind = ?3, settings = ?4, sealed = ?5, version = ?6, changed_at_ms = ?7, changed_by = ?8
where tenant_id = ?1 and name = ?2
