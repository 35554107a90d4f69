select id, name, made_at_ms
from trueup.tenants
where id = $1
