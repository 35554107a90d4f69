update trueup.runs set checked_at_ms = $2 where id = any ($1)
