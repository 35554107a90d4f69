insert into keys (id, tenant_id, name, role, hash, created_at_ms, created_by, expires_at_ms)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
