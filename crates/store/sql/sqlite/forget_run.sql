delete from runs where id = ?1 and finished_at_ms is not null
