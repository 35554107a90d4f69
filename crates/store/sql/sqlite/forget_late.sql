-- Only here, as is the table.
delete from audit_late
