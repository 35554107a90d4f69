-- Compares and orders by all columns of the index, as the lists of runs do.
select
    (select number from trueup.runs where (tenant_id, requested_at_ms) < ($1, $2) and tenant_id >= $1
        order by tenant_id desc, requested_at_ms desc, number desc limit 1),
    (select number from trueup.runs where (tenant_id, requested_at_ms) >= ($1, $3) and tenant_id <= $1
        order by tenant_id, requested_at_ms, number limit 1)
