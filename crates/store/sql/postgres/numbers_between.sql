-- Halves the span of numbers until it is where the times begin. An index of times would cost every run something, and numbers are in the order of times but for a moment.
-- Compares and orders by all columns of the index, as the lists of runs do.
with recursive wanted (at_ms) as (
    values ($2::bigint), ($3)
), halves (at_ms, low, high) as (
    select at_ms,
        coalesce((select number from trueup.runs where (tenant_id, number) > ($1, 0) and tenant_id <= $1 order by tenant_id, number limit 1), 1),
        coalesce((select number from trueup.runs where (tenant_id, number) < ($1, 9223372036854775807) and tenant_id >= $1 order by tenant_id desc, number desc limit 1), 0) + 1
    from wanted
    union all
    select at_ms, case when requested_at_ms < at_ms then number + 1 else low end, case when requested_at_ms < at_ms then high else (low + high) / 2 end
    from halves
    cross join lateral (
        select number, requested_at_ms from trueup.runs
        where (tenant_id, number) >= ($1, (low + high) / 2) and tenant_id <= $1
        order by tenant_id, number limit 1
    ) as next
    where low < high
)
select (select max(low) - 1 from halves where at_ms = $2), (select max(low) from halves where at_ms = $3)
