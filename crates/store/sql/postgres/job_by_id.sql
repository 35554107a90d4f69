select j.id, j.revision, j.name, r.document, r.queue, r.deadline_ms, r.retries
from trueup.jobs as j
join trueup.job_revisions as r on r.job_id = j.id and r.revision = j.revision
where j.id = $2 and j.tenant_id = $1
