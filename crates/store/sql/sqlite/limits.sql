select max_running, max_waiting
from queues
where tenant_id = ?1 and name = ?2
