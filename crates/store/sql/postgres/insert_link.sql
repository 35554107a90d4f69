insert into trueup.audit_chain (number, audit_id, hash) select * from unnest($1::bigint[], $2::bigint[], $3::bytea[])
