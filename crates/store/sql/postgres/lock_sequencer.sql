-- Only here, as is all of the sequencer: one at a time numbers what has become visible. A statement of its own, so that the next one sees what the last sequencer did.
select pg_advisory_xact_lock(1953723757, 0)
