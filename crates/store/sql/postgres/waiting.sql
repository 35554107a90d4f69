select count(*) from (
    select from trueup.runs where tenant_id = $1 and queue = $2 and state = 'requested' limit $3
) as counted
