-- Only here: whoever counts a waiting line goes before the next who does, so that two never overfill it. A SQL user keeps the lock until the end of a transaction of
-- any length, which is not waited for with a connection in hand.
select set_config('lock_timeout', '1s', true), pg_advisory_xact_lock(1953723758, hashtext($1::text || '/' || $2::text)), set_config('lock_timeout', '5s', true)
