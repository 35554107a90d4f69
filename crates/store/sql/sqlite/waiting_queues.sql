-- Slots are counted only where they are limited: without a limit nobody asks, and the count could be long.
select tenant_id, name, max_running, max_waiting, holding
from (
    select q.tenant_id, q.name, q.max_running, q.max_waiting,
        (
            select min(number) from runs indexed by runs_waiting
            where state = 'requested' and tenant_id = q.tenant_id and queue = q.name
        ) as oldest,
        case when q.max_running is null then 0 else (
            select count(*) from runs indexed by runs_holding_a_slot
            where (state = 'scheduling' or state = 'scheduled' or state = 'running') and tenant_id = q.tenant_id and queue = q.name
        ) end as holding
    from queues q
)
where oldest is not null
order by oldest
