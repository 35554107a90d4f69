-- The conditions are those of the indexes, word for word.
select q.name, q.max_running, q.max_waiting,
    (select count(*) from runs as r where r.tenant_id = q.tenant_id and r.queue = q.name and r.state = 'requested'),
    (select count(*) from runs as r where r.tenant_id = q.tenant_id and r.queue = q.name and (r.state = 'scheduling' or r.state = 'scheduled' or r.state = 'running') and r.state <> 'running'),
    (select count(*) from runs as r where r.tenant_id = q.tenant_id and r.queue = q.name and (r.state = 'scheduling' or r.state = 'scheduled' or r.state = 'running') and r.state = 'running')
from queues as q
where q.tenant_id = ?1
order by q.name
