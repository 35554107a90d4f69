update runs
set withdrawn_at_ms = ?2
where id = ?1
