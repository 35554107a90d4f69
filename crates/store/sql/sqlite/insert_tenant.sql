insert into tenants (id, name, made_at_ms)
values (?1, ?2, ?3)
