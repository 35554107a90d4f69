select number, id, tenant_id, name, state, steps, cancel, opened_at_ms, updated_at_ms, finished_at_ms, changes
from observed
where tenant_id = ?1 and id = ?2
