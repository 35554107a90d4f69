-- Halves the span of numbers until it is where the times begin. An index of times would cost every run something, and numbers are in the order of times but for a moment.
with recursive wanted (at_ms) as (
    values (?2), (?3)
), halves (at_ms, low, high) as (
    select at_ms, coalesce((select min(number) from runs where tenant_id = ?1), 1), coalesce((select max(number) from runs where tenant_id = ?1), 0) + 1
    from wanted
    union all
    select at_ms, case when requested_at_ms < at_ms then number + 1 else low end, case when requested_at_ms < at_ms then high else (low + high) / 2 end
    from halves
    join runs on number = (select number from runs where tenant_id = ?1 and number >= (low + high) / 2 order by number limit 1)
    where low < high
)
select (select max(low) - 1 from halves where at_ms = ?2), (select max(low) from halves where at_ms = ?3)
