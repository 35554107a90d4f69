update observed
set name = ?3, state = ?4, steps = ?5, cancel = ?6, updated_at_ms = ?7, finished_at_ms = ?8, changes = ?9
where id = ?1 and tenant_id = ?2 and changes = ?9 - 1
