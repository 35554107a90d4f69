insert into trueup.audit_chain (number, audit_id, hash, tenant_id) select * from unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::text[])
