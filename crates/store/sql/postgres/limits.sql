select max_running, max_waiting from trueup.queues where tenant_id = $1 and name = $2
