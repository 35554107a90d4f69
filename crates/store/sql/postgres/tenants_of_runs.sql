-- Many at once, where SQLite looks at one after the other.
select id, tenant_id from trueup.runs where id = any ($1)
