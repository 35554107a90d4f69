insert into audit_chain (number, audit_id, hash, tenant_id)
values (?1, ?2, ?3, ?4)
