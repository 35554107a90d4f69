select id, name, made_at_ms
from tenants
where id > ?1
order by id
limit ?2
