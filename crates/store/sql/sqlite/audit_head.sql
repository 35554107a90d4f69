-- With the largest id that is linked, behind which the next entries are: the last link may be of one that was put before it.
select number, (select max(audit_id) from audit_chain), hash
from audit_chain
order by number desc
limit 1
