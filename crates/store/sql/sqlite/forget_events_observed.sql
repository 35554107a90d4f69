-- Only here, as is the search for what to forget.
delete from events where run_id = ?1 and tenant_id = ?2
