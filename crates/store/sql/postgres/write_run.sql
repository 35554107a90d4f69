-- All of them in one statement, which fails unless each still is what it was loaded as; SQLite counts after each.
with changed as (
    update trueup.runs as r
    set state = m.state, epoch = m.epoch, executor = m.executor, due_at_ms = m.due_at_ms, submits = m.submits, attempt = m.attempt, worker = m.worker,
        deadline_at_ms = m.deadline_at_ms, finished_at_ms = m.finished_at_ms, verdict = m.verdict, error = m.error, cancel = m.cancel, beside = m.beside
    from unnest(
        $1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::text[],
        $11::bigint[], $12::bigint[], $13::text[], $14::json[], $15::json[], $16::json[]
    ) as m (id, epoch_before, state_before, state, epoch, executor, due_at_ms, submits, attempt, worker, deadline_at_ms, finished_at_ms, verdict, error, cancel, beside)
    where r.id = m.id and r.epoch = m.epoch_before and r.state = m.state_before
    returning r.id
)
select trueup.expect_changes(cardinality($1), (select count(*) from changed))
