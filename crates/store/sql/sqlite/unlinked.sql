-- Every link is of another entry, so that the two counts do, and nothing has to be looked up.
select max(0, (select count(*) from audit) - (select count(*) from audit_chain))
