-- One by one, where PostgreSQL takes many.
select id, tenant_id
from runs
where id = ?1
