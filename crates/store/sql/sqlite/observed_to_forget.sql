-- Only here: PostgreSQL finds and deletes in one statement.
select id, tenant_id
from observed indexed by observed_finished
where finished_at_ms < ?1
order by finished_at_ms, number
limit ?2
