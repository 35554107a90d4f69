select request_hash, status, body
from trueup.answers
where tenant_id = $1 and key = $2
