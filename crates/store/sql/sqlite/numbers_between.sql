select
    (select number from runs indexed by runs_by_time where tenant_id = ?1 and requested_at_ms < ?2 order by requested_at_ms desc, number desc limit 1),
    (select number from runs indexed by runs_by_time where tenant_id = ?1 and requested_at_ms >= ?3 order by requested_at_ms, number limit 1)
