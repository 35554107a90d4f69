select number, id, tenant_id, name, state, steps, cancel, opened_at_ms, updated_at_ms, finished_at_ms, changes
from observed indexed by observed_in_a_state
where tenant_id = ?1 and state = ?7 and number < ?2 and number > ?3 and opened_at_ms >= ?4 and opened_at_ms < ?5
order by number desc
limit ?6
