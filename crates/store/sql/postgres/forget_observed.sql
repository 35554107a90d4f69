-- One statement for all, with their events; SQLite takes them one by one. Arrays, so that the planner looks each of them up: it cannot know that they are few.
with ended as (
    delete from trueup.observed
    where number = any (array(
        select number from trueup.observed where finished_at_ms < $1 order by finished_at_ms, number limit $2 for update skip locked
    ))
    returning id, tenant_id
), numbered as (
    delete from trueup.event_positions as p using ended
    where p.run_id = any (array(select id from ended)) and p.run_id = ended.id and p.tenant_id = ended.tenant_id
    returning event_id
), untold as (
    delete from trueup.events as e using ended
    where e.event_id = any (array(select event_id from numbered union all select event_id from trueup.event_inbox))
        and e.run_id = ended.id and e.tenant_id = ended.tenant_id
)
select count(*) from ended
