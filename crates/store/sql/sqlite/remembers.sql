select exists (select 1 from runs where id = ?1)
