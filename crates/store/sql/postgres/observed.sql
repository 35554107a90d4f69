-- Compares and orders by all columns of the index, as the lists of runs do, and leaves the index of times alone as they do.
select number, id, tenant_id, name, state, steps, cancel, opened_at_ms, updated_at_ms, finished_at_ms, changes
from trueup.observed
where (tenant_id, number) < ($1, $2) and (tenant_id, number) > ($1, $3)
    and opened_at_ms + 0 >= $4 and opened_at_ms + 0 < $5
order by tenant_id desc, number desc
limit $6
