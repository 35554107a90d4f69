insert into trueup.tenants (id, name, made_at_ms) values ($1, $2, $3) on conflict (name) do nothing
