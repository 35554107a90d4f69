select r.revision, r.saved_at_ms, r.saved_by
from jobs as j
join job_revisions as r on r.job_id = j.id
where j.id = ?2 and j.tenant_id = ?1 and r.revision < ?3
order by r.revision desc
limit ?4
