-- Every link is of another entry, so that the two counts do, and nothing has to be looked up.
select greatest(0, (select count(*) from trueup.audit) - (select count(*) from trueup.audit_chain))
