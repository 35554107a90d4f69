-- Gives back those that were new; they wait in the inbox for a position, which SQLite gives at once.
with given as (
    select * from unnest(
        $1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::json[], $8::bigint[], $9::text[], $10::json[], $11::json[], $12::boolean[], $13::text[]
    ) with ordinality as g (event_id, tenant_id, run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here, mark, place)
), added as (
    insert into trueup.events (event_id, tenant_id, run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here, mark)
    select event_id, tenant_id, run_id, type, source, time, data, causation_id, traceparent, extensions, details, stamped_here, mark from given order by event_id
    on conflict (event_id) do nothing
    returning event_id
), queued as (
    insert into trueup.event_inbox (event_id)
    select added.event_id from added join given using (event_id) order by given.place
)
select event_id from added
