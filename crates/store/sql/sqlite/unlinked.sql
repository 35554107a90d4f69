select count(*)
from audit
where id not in (select audit_id from audit_chain)
