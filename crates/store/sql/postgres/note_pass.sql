insert into trueup.passes (task, instance, at_ms, took_ms, seen, done, note)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict (task, instance) do update
set at_ms = excluded.at_ms, took_ms = excluded.took_ms, seen = excluded.seen, done = excluded.done, note = excluded.note
