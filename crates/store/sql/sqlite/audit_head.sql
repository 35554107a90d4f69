select number, audit_id, hash
from audit_chain
order by number desc
limit 1
