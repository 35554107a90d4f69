select count(*)
from (select 1 from runs indexed by runs_waiting where state = 'requested' and tenant_id = ?1 and queue = ?2 limit ?3)
