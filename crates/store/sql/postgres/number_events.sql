with visible as (
    delete from trueup.event_inbox
    where seq in (select seq from trueup.event_inbox order by seq limit $1)
    returning seq, event_id
), taken as (
    update trueup.meta set last_position = last_position + (select count(*) from visible)
    where exists (select from visible)
    returning last_position - (select count(*) from visible) as before
)
insert into trueup.event_positions (position, event_id)
select taken.before + row_number() over (order by visible.seq), visible.event_id
from visible cross join taken
