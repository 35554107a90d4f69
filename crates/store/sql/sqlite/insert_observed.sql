-- Its number is the next that a run would have got, and is none's after that: see the trigger of the table.
insert into observed (number, id, tenant_id, name, state, steps, cancel, opened_at_ms, updated_at_ms, finished_at_ms, changes)
select coalesce(max(seq), 0) + 1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
from sqlite_sequence
where name = 'runs'
