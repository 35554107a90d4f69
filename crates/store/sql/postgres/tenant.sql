-- The update that changes nothing locks the tenant, and gives the id of one that is there.
insert into trueup.tenants (id, name) values ($1, $2)
on conflict (name) do update set name = excluded.name
returning id
