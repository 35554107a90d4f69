-- Only here: whoever counts a waiting line goes before the next who does, so that two never overfill it.
select pg_advisory_xact_lock(1953723758, hashtext($1::text || '/' || $2::text))
