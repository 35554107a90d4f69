insert into job_revisions (job_id, revision, document, queue, deadline_ms, retries, saved_at_ms, saved_by)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
