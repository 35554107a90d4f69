-- One statement for all; SQLite takes them one by one. Events have no index by run here, where their positions have one: they are told more often than forgotten.
with ended as (
    delete from trueup.runs where id = any ($1) and finished_at_ms is not null returning id
), numbered as (
    delete from trueup.event_positions as p using ended where p.run_id = ended.id returning event_id
)
delete from trueup.events as e using ended
where e.event_id = any (array(select event_id from numbered union all select event_id from trueup.event_inbox)) and e.run_id = ended.id
