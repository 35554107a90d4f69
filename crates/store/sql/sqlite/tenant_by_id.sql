select id, name, made_at_ms
from tenants
where id = ?1
