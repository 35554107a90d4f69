update runs
set state = ?4, epoch = ?5, executor = ?6, due_at_ms = ?7, submits = ?8, attempt = ?9, worker = ?10, deadline_at_ms = ?11,
    finished_at_ms = ?12, verdict = ?13, error = ?14, cancel = ?15, beside = ?16
where id = ?1 and epoch = ?2 and state = ?3
