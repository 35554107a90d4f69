select j.id, j.name, j.revision, r.queue, r.saved_at_ms, r.saved_by
from trueup.jobs as j
join trueup.job_revisions as r on r.job_id = j.id and r.revision = j.revision
where j.tenant_id = $1 and j.name > $2
order by j.name
limit $3
