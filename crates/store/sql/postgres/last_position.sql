-- Only here: SQLite tells by itself that another process has written.
select last_position from trueup.meta
