select id, at_ms, tenant_id, actor, action, subject, detail
from audit
where id > ?1
order by id
