-- Many at once, with the limits of their queues; SQLite looks at one after the other.
select j.tenant_id, j.name, j.id, j.revision, r.queue, r.deadline_ms, r.retries, q.name is not null, q.max_running, q.max_waiting
from unnest($1::text[], $2::text[]) as wanted (tenant_id, name)
join trueup.jobs as j on j.tenant_id = wanted.tenant_id and j.name = wanted.name
join trueup.job_revisions as r on r.job_id = j.id and r.revision = j.revision
left join trueup.queues as q on q.tenant_id = j.tenant_id and q.name = r.queue
