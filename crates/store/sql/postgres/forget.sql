-- One statement for all; SQLite takes them one by one.
with ended as (
    delete from trueup.runs where id = any ($1) and finished_at_ms is not null returning id
), told as (
    delete from trueup.events as e using ended where e.run_id = ended.id returning event_id
)
delete from trueup.event_positions as p using told where p.event_id = told.event_id
