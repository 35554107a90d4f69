-- Also keeps what the events of SQL users name as their source.
update meta
set next_node = (next_node + 1) % 1023, core_source = coalesce(?1, core_source)
returning (next_node + 1022) % 1023
