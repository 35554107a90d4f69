-- Only here: events whose ids are new, as our own are, so that the commit can be sent along; one that is there already refuses the transaction.
-- In the order of their ids, so that two who tell the same do not wait for each other.
with given as (
    select * from unnest(
        $1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::json[], $8::bigint[], $9::text[], $10::json[], $11::json[], $12::boolean[], $13::text[]
    ) with ordinality as g (event_id, tenant_id, run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here, mark, place)
), queued as (
    insert into trueup.event_inbox (event_id)
    select event_id from given order by place
)
insert into trueup.events (event_id, tenant_id, run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here, mark)
select event_id, tenant_id, run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here, mark from given order by event_id
