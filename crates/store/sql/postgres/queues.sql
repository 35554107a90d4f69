select q.name, q.max_running, q.max_waiting,
    (select count(*) from trueup.runs as r where r.tenant_id = q.tenant_id and r.queue = q.name and r.state = 'requested'),
    (select count(*) from trueup.runs as r where r.tenant_id = q.tenant_id and r.queue = q.name and r.state in ('scheduling', 'scheduled')),
    (select count(*) from trueup.runs as r where r.tenant_id = q.tenant_id and r.queue = q.name and r.state = 'running')
from trueup.queues as q
where q.tenant_id = $1
order by q.name
