delete from events where run_id in (select id from runs where id = ?1 and finished_at_ms is not null)
