delete from trueup.passes
where instance in (select instance from trueup.passes group by instance having max(at_ms) < $1)
