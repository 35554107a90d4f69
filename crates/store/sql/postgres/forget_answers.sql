delete from trueup.answers
where (tenant_id, key) in (
    select tenant_id, key from trueup.answers where kept_at_ms < $1 order by kept_at_ms limit $2 for update skip locked
)
returning 1
