select pg_advisory_xact_lock(1953723757, 1)
