-- The first condition is the index's own, word for word, without which SQLite could not use it.
select id
from runs indexed by runs_due
where (state = 'scheduling' or state = 'scheduled' or state = 'running') and state = 'running' and worker = ?1 and cancel is not null
