insert into audit_chain (number, audit_id, hash)
values (?1, ?2, ?3)
