insert into trueup.tenants (id, name) values ($1, $2) on conflict (name) do nothing
