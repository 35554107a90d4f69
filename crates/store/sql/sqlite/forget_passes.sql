delete from passes
where instance in (select instance from passes group by instance having max(at_ms) < ?1)
