-- Only here: a queue with a limit is one executor's until it commits, so that two never overfill it. The weaker lock is the one that a run's reference to its queue allows.
select tenant_id, name
from trueup.queues as q
where max_running is not null
    and exists (select from trueup.runs as r where r.tenant_id = q.tenant_id and r.queue = q.name and r.state = 'requested')
for no key update of q skip locked
