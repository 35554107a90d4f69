-- One by one, where PostgreSQL takes many.
select id, tenant_id, finished_at_ms is not null
from runs
where id = ?1
