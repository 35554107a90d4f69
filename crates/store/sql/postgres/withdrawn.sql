update trueup.runs set withdrawn_at_ms = $2 where id = any ($1)
