-- Counts no further than the limit, and not at all without one.
select q.tenant_id, q.name, q.max_running, q.max_waiting, (
    select count(*) from (
        select from trueup.runs as r
        where q.max_running is not null and r.tenant_id = q.tenant_id and r.queue = q.name and r.state in ('scheduling', 'scheduled', 'running')
        limit q.max_running
    ) as counted
)
from trueup.queues as q
cross join lateral (
    select number from trueup.runs as r
    where r.tenant_id = q.tenant_id and r.queue = q.name and r.state = 'requested'
    order by number
    limit 1
) as oldest
order by oldest.number
