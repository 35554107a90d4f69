-- Many at once, where SQLite looks at one after the other.
select id, tenant_id, finished_at_ms is not null from trueup.runs where id = any ($1)
