update keys
set revoked_at_ms = ?2
where id = ?1
