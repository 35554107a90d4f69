-- Transactions that write at once take numbers of the inbox in turns; what one of them wrote stays together all the same.
with visible as (
    delete from trueup.event_inbox
    where seq in (select seq from trueup.event_inbox order by seq limit $1)
    returning seq, event_id, xmin::text as writer
), placed as (
    select event_id, seq, min(seq) over (partition by writer) as first_seq from visible
), taken as (
    update trueup.meta set last_position = last_position + (select count(*) from visible)
    where exists (select from visible)
    returning last_position - (select count(*) from visible) as before
)
insert into trueup.event_positions (position, event_id)
select taken.before + row_number() over (order by placed.first_seq, placed.seq), placed.event_id
from placed cross join taken
