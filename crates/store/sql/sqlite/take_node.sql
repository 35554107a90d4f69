update meta
set next_node = (next_node + 1) % 1023
returning (next_node + 1022) % 1023
