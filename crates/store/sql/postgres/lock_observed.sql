-- Only here: many at once, in the order of their ids, so that two transactions never wait for each other. SQLite has one writer, which need not lock.
select number, id, tenant_id, name, state, steps, cancel, opened_at_ms, updated_at_ms, finished_at_ms, changes
from trueup.observed
where tenant_id = $1 and id = any ($2)
order by id
for update
