select jobs.id, jobs.revision, jobs.name, document, queue, deadline_ms, retries
from jobs
join job_revisions on job_revisions.job_id = jobs.id and job_revisions.revision = jobs.revision
where jobs.tenant_id = ?1 and jobs.name = ?2
