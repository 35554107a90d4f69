select request_hash, status, body
from answers
where tenant_id = ?1 and key = ?2
