select pg_advisory_lock(1953723759, hashtext($1))
