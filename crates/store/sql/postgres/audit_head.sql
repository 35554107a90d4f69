select number, hash from trueup.audit_chain order by number desc limit 1
