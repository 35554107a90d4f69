-- Locked, so that of two who revoke it one finds it revoked; SQLite has one writer.
select id, tenant_id, name, role, created_at_ms, created_by, expires_at_ms, revoked_at_ms, hash
from trueup.keys
where id = $1
for update
