-- Compares and orders by all columns of the index, as the lists do.
select
    (select number from trueup.observed where (tenant_id, opened_at_ms) < ($1, $2) and tenant_id >= $1
        order by tenant_id desc, opened_at_ms desc, number desc limit 1),
    (select number from trueup.observed where (tenant_id, opened_at_ms) >= ($1, $3) and tenant_id <= $1
        order by tenant_id, opened_at_ms, number limit 1)
