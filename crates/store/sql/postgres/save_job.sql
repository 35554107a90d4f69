insert into trueup.jobs (id, tenant_id, name, revision) values ($1, $2, $3, $4)
on conflict (id) do update set revision = excluded.revision
