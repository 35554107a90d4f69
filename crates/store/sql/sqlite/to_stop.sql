select id
from runs indexed by runs_leased
where state = 'running' and worker = ?1 and cancel is not null
