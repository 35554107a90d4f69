select number, id, tenant_id, name, state, steps, cancel, opened_at_ms, updated_at_ms, finished_at_ms, changes
from trueup.observed
where tenant_id = $1 and finished_at_ms is null and updated_at_ms < $2
order by number
limit $3
