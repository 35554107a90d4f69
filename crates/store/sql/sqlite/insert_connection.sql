insert into connections (tenant_id, name, kind, settings, sealed, version, changed_at_ms, changed_by)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
