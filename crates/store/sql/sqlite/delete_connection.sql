delete from connections
where tenant_id = ?1 and name = ?2
