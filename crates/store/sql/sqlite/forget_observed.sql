delete from observed where id = ?1 and tenant_id = ?2
