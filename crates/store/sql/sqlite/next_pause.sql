select min(due_at_ms)
from runs indexed by runs_pausing
where state = 'scheduling' and executor is null and (deadline_at_ms is null or deadline_at_ms > ?1)
