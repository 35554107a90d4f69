insert into audit (at_ms, tenant_id, actor, action, subject, detail)
values (?1, ?2, ?3, ?4, ?5, ?6)
