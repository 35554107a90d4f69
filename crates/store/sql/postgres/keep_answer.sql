insert into trueup.answers (tenant_id, key, request_hash, status, body, kept_at_ms)
values ($1, $2, $3, $4, $5, $6)
on conflict (tenant_id, key) do nothing
