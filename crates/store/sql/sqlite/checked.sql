update runs
set checked_at_ms = ?2
where id = ?1
