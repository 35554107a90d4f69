select count(*) from trueup.audit as a where not exists (select from trueup.audit_chain as c where c.audit_id = a.id)
