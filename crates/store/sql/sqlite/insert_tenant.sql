insert into tenants (id, name)
values (?1, ?2)
