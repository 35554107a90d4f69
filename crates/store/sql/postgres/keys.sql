select id, tenant_id, name, role, created_at_ms, created_by, expires_at_ms, revoked_at_ms
from trueup.keys
where tenant_id = $1 and id > $2
order by id
limit $3
