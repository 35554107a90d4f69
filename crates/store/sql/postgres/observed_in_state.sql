-- Compares and orders by all columns of the index, as the lists of runs do, and leaves the index of times alone as they do.
select number, id, tenant_id, name, state, steps, cancel, opened_at_ms, updated_at_ms, finished_at_ms, changes
from (select distinct unnest($7::text[])) as wanted (one)
cross join lateral (
    select * from trueup.observed
    where tenant_id = $1 and (state, number) < (one, $2) and (state, number) > (one, $3)
        and opened_at_ms + 0 >= $4 and opened_at_ms + 0 < $5
    order by state desc, number desc
    limit $6
) as found
order by number desc
limit $6
