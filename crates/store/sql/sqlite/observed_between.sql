select
    (select number from observed indexed by observed_by_time where tenant_id = ?1 and opened_at_ms < ?2 order by opened_at_ms desc, number desc limit 1),
    (select number from observed indexed by observed_by_time where tenant_id = ?1 and opened_at_ms >= ?3 order by opened_at_ms, number limit 1)
