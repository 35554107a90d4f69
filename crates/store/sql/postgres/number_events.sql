-- Transactions that write at once take numbers of the inbox in turns; what one of them wrote stays together all the same.
-- Looks each of them up by its key: what the planner knows of the tables was true before they grew.
with visible as (
    delete from trueup.event_inbox
    where seq = any (array(select seq from trueup.event_inbox order by seq limit $1))
    returning seq, event_id, xmin::text as writer
), placed as (
    select event_id, tenant_id, run_id, seq, min(seq) over (partition by writer) as first_seq
    from visible
    cross join lateral (select tenant_id, run_id from trueup.events where events.event_id = visible.event_id limit 1) as told
), taken as (
    update trueup.meta set last_position = last_position + (select count(*) from placed)
    where exists (select from placed)
    returning last_position - (select count(*) from placed) as before
)
insert into trueup.event_positions (position, event_id, tenant_id, run_id)
select taken.before + row_number() over (order by placed.first_seq, placed.seq), placed.event_id, placed.tenant_id, placed.run_id
from placed cross join taken
