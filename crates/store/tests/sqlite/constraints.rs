//! The invariants that the database repeats: raw SQL cannot break them.

use rusqlite::Connection;

use crate::damaged::holds_up_no_other;
use crate::place::{folder, open_with_job, wish};

#[tokio::test]
async fn raw_sql_cannot_break_an_invariant() {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    store.trigger(wish(tenant_id)).await.unwrap();
    store.close().await.unwrap();
    let connection = Connection::open(folder.path().join("store.db")).unwrap();
    connection.pragma_update(None, "foreign_keys", true).unwrap();
    // Each starts from one run that is requested, with its two events and its audit entry.
    let table = [
        ("requested_has_no_owner", "update runs set due_at_ms = 1"),
        ("scheduling_has_an_executor_or_a_pause", "update runs set state = 'scheduling', submits = 1"),
        ("scheduled_has_no_owner", "update runs set state = 'scheduled', due_at_ms = 1"),
        (
            "running_has_a_lease",
            "update runs set state = 'running', due_at_ms = 1, attempt = 1, deadline_at_ms = 1",
        ),
        (
            "running_has_a_lease",
            "update runs set state = 'completed', verdict = 'MATCHED', finished_at_ms = 1, worker = 'w'",
        ),
        (
            "running_has_a_deadline",
            "update runs set state = 'running', worker = 'w', due_at_ms = 1, attempt = 1",
        ),
        (
            "only_scheduling_has_an_executor",
            "update runs set state = 'completed', verdict = 'MATCHED', finished_at_ms = 1, executor = 'e'",
        ),
        ("terminal_has_a_finish_time", "update runs set state = 'completed', verdict = 'MATCHED'"),
        ("terminal_has_a_finish_time", "update runs set finished_at_ms = 1"),
        (
            "terminal_has_no_lease",
            "update runs set state = 'completed', verdict = 'MATCHED', finished_at_ms = 1, due_at_ms = 1",
        ),
        ("completed_has_a_verdict", "update runs set state = 'completed', finished_at_ms = 1"),
        ("completed_has_a_verdict", "update runs set verdict = 'MATCHED'"),
        ("failed_has_an_error", "update runs set state = 'failed', finished_at_ms = 1"),
        ("failed_has_an_error", r#"update runs set error = '{"code":"CRASHED","message":"m"}'"#),
        ("cancelled_names_who", "update runs set state = 'cancelled', finished_at_ms = 1"),
        ("second_outcome_follows_a_first", r#"update runs set beside = '{"result":"MATCHED"}'"#),
        (
            "stay readable",
            r#"update runs set state = 'failed', finished_at_ms = 1, error = '{"code":"CRASHED"}'"#,
        ),
        ("stay readable", r#"update runs set cancel = '{"by":"ann","at_ms":"now"}'"#),
        (
            "stay readable",
            "update runs set state = 'completed', verdict = 'MATCHED', finished_at_ms = 1, beside = '{}'",
        ),
        ("state_is_known", "update runs set state = 'lost'"),
        ("mode in", "update runs set mode = 'WHENEVER'"),
        ("verdict in", "update runs set state = 'completed', finished_at_ms = 1, verdict = 'MAYBE'"),
        ("never falls", "update runs set epoch = -1"),
        ("deadline_ms > 0", "update runs set deadline_ms = 0"),
        ("retries between", "update runs set retries = -1"),
        ("json_valid(params)", "update runs set params = '{'"),
        ("malformed JSON", "update runs set cancel = '{'"),
        (
            "json_valid(data)",
            "insert into events (event_id, tenant_id, run_id, type, source, time, data) values (9, 't', 'r', 'x', 's', 't', '{')",
        ),
        ("never changed", "update events set type = 'run.finalised'"),
        ("never replaced", "insert or replace into events select * from events"),
        (
            "never replaced",
            "insert or replace into events (position, event_id, tenant_id, run_id, type, source, time, data) select position, event_id + 9, tenant_id, run_id, type, source, time, data from events",
        ),
        ("never replaced", "insert or replace into runs select * from runs"),
        (
            "never replaced",
            "insert or replace into runs (number, id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries, state, epoch) select number, 'x', tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries, state, epoch from runs",
        ),
        ("keeps its number", "update or replace runs set id = 'x'"),
        ("keeps its number", "update or replace runs set number = 9"),
        (
            "append-only",
            "insert or replace into audit select id, at_ms, tenant_id, 'bob', action, subject, detail from audit",
        ),
        ("cannot store TEXT", "update runs set epoch = 'many'"),
        (
            "never replaced",
            "insert into runs select 2, id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries, state, epoch, null, null, null, null, null, null, null, null, null, null, null, 0, null from runs",
        ),
        ("FOREIGN KEY", "update runs set job_id = 'missing'"),
        ("FOREIGN KEY", "update runs set queue = 'missing'"),
        ("FOREIGN KEY", "update runs set tenant_id = 'missing'"),
        ("FOREIGN KEY", "delete from job_revisions"),
        (
            "never replaced",
            "insert into events (event_id, tenant_id, run_id, type, source, time, data) select event_id, tenant_id, 'r', type, source, time, data from events",
        ),
        (
            "never replaced",
            "insert or replace into events (event_id, tenant_id, run_id, type, source, time, data) select event_id + 9, tenant_id, run_id, 'run.finalised', source, time, data from events",
        ),
        (
            "never replaced",
            "insert or replace into events (event_id, tenant_id, run_id, type, source, time, data) select event_id + 9, tenant_id, run_id, case position when 1 then 'run.finalised' else 'run.cancelled' end, source, time, data from events",
        ),
        ("next_node between", "update meta set next_node = 1023"),
        ("only_row = 1", "insert into meta values (2, 0, 0, 's')"),
        ("max_running between", "update queues set max_running = 0"),
        ("max_waiting between", "update queues set max_waiting = -1"),
        ("tenants.name", "insert into tenants select 'x', name, 0 from tenants"),
        ("jobs.name", "insert into jobs select 'x', tenant_id, name, 1 from jobs"),
        ("revision > 0", "update job_revisions set revision = 0"),
        ("json_valid(document)", "update job_revisions set document = '{'"),
        ("deadline_ms > 0", "update job_revisions set deadline_ms = 0"),
        ("retries between", "update job_revisions set retries = -1"),
        (
            "stamped_here in",
            "insert into events (event_id, tenant_id, run_id, type, source, time, data, stamped_here) values (9, 't', 'r', 'x', 's', 't', '{}', 2)",
        ),
        (
            "json_valid(extensions)",
            "insert into events (event_id, tenant_id, run_id, type, source, time, data, extensions) values (9, 't', 'r', 'x', 's', 't', '{}', '{')",
        ),
        (
            "json_valid(details)",
            "insert into events (event_id, tenant_id, run_id, type, source, time, data, details) values (9, 't', 'r', 'x', 's', 't', '{}', '{')",
        ),
        (
            "json_valid(detail)",
            "insert into audit (at_ms, tenant_id, actor, action, subject, detail) values (1, 't', 'a', 'x', 's', '{')",
        ),
        ("number > 0", "insert into audit_chain values (0, 99, zeroblob(32), 't')"),
        ("tenants.id", "insert into tenants select id, 'x', 0 from tenants"),
        ("queues.name", "insert into queues select * from queues"),
        ("jobs.id", "insert into jobs select id, tenant_id, 'x', 1 from jobs"),
        ("job_revisions.revision", "insert into job_revisions select * from job_revisions"),
        (
            "passes.instance",
            "insert into passes values ('leases', 'a', 1, 1, 1, 1, null); insert into passes values ('leases', 'a', 2, 1, 1, 1, null)",
        ),
        (
            "mark in",
            "insert into events (event_id, tenant_id, run_id, type, source, time, data, mark) values (9, 't', 'r', 'x', 's', 't', '{}', 'odd')",
        ),
        (
            "observed_state_is_known",
            "insert into observed select 9, '7', id, null, 'lost', '[]', null, 1, 1, null, 1 from tenants",
        ),
        (
            "json_valid(steps)",
            "insert into observed select 9, '7', id, null, 'running', '[', null, 1, 1, null, 1 from tenants",
        ),
        (
            "json_valid(cancel)",
            "insert into observed select 9, '7', id, null, 'running', '[]', '{', 1, 1, null, 1 from tenants",
        ),
        (
            "observed_end_has_a_time",
            "insert into observed select 9, '7', id, null, 'failed', '[]', null, 1, 1, null, 1 from tenants",
        ),
        (
            "changes >= 0",
            "insert into observed select 9, '7', id, null, 'running', '[]', null, 1, 1, null, -1 from tenants",
        ),
        (
            "FOREIGN KEY",
            "insert into observed values (9, '7', 'x', null, 'running', '[]', null, 1, 1, null, 1)",
        ),
        (
            "observed.id, observed.tenant_id",
            "insert into observed select 9, '7', id, null, 'running', '[]', null, 1, 1, null, 1 from tenants; \
             insert into observed select 10, '8', id, null, 'running', '[]', null, 1, 1, null, 1 from tenants; update observed set id = '7'",
        ),
        (
            "an observed execution is never replaced",
            "insert into observed select (select number from runs), '7', id, null, 'running', '[]', null, 1, 1, null, 1 from tenants",
        ),
        (
            "an observed execution is never replaced",
            "insert into observed select 9, '7', id, null, 'running', '[]', null, 1, 1, null, 1 from tenants; insert or replace into observed select 10, id, tenant_id, name, state, steps, cancel, 1, 1, null, 1 from observed",
        ),
        (
            "that has ended stays so",
            "insert into observed select 9, '7', id, null, 'failed', '[]', null, 1, 1, 1, 1 from tenants; update observed set state = 'running', finished_at_ms = null",
        ),
        (
            "role_is_known",
            "insert into keys select 'k', id, 'n', 'root', zeroblob(32), 1, 'a', null, null from tenants",
        ),
        (
            "length(hash) = 32",
            "insert into keys select 'k', id, 'n', 'admin', x'00', 1, 'a', null, null from tenants",
        ),
        ("FOREIGN KEY", "insert into keys values ('k', 'x', 'n', 'admin', zeroblob(32), 1, 'a', null, null)"),
        (
            "keys.id",
            "insert into keys select 'k', id, 'n', 'admin', zeroblob(32), 1, 'a', null, null from tenants; insert into keys select id, tenant_id, name, role, randomblob(32), 1, 'a', null, null from keys",
        ),
        (
            "keys.hash",
            "insert into keys select 'k', id, 'n', 'admin', zeroblob(32), 1, 'a', null, null from tenants; insert into keys select 'l', tenant_id, name, role, hash, 1, 'a', null, null from keys",
        ),
        (
            "json_valid(settings)",
            "insert into connections select id, 'n', 'postgres', '{', x'', 1, 1, 'ann' from tenants",
        ),
        (
            "version between",
            "insert into connections select id, 'n', 'postgres', '{}', x'', 0, 1, 'ann' from tenants",
        ),
        (
            "connections.name",
            "insert into connections select id, 'n', 'postgres', '{}', x'', 1, 1, 'ann' from tenants; insert into connections select id, 'n', 'postgres', '{}', x'', 1, 1, 'ann' from tenants",
        ),
        ("length(request_hash) = 32", "insert into answers select id, 'k', x'', 200, '', 1 from tenants"),
        ("status between", "insert into answers select id, 'k', zeroblob(32), 99, '', 1 from tenants"),
        (
            "answers.key",
            "insert into answers select id, 'k', zeroblob(32), 200, '', 1 from tenants; insert into answers select id, 'k', zeroblob(32), 200, '', 1 from tenants",
        ),
        ("append-only", "update audit set actor = 'bob'"),
        ("append-only", "delete from audit where id = 1"),
        ("append-only", "update audit_chain set hash = zeroblob(32)"),
        ("append-only", "delete from audit_chain where number = 1"),
        ("length(hash) = 32", "insert into audit_chain values (99, 99, x'00', 't')"),
        (
            "append-only",
            "insert into audit_chain select 99, audit_id, hash, tenant_id from audit_chain limit 1",
        ),
    ];
    // What has ended.
    let error = r#"'{"code":"CRASHED","message":"m"}'"#;
    let failed = format!("update runs set state = 'failed', finished_at_ms = 1, error = {error}");
    let changes = [
        "state = 'completed', verdict = 'MATCHED', error = null",
        "state = 'requested', finished_at_ms = null, error = null",
        "state = 'timeout'",
        "epoch = epoch + 1",
        "finished_at_ms = 2",
        r#"error = '{"code":"CRASHED","message":"n"}'"#,
        r#"cancel = '{"by":"ann","at_ms":1}'"#,
        r#"beside = '{"result":"MATCHED"}'; update runs set beside = '{"result":"UNMATCHED"}'"#,
        r#"beside = '{"result":"MATCHED"}'; update runs set beside = null"#,
    ];
    let ended = changes.map(|change| ("stays so", format!("{failed}; update runs set {change}")));
    // Where a trigger refuses to change a row like that, only a new one gets as far as the CHECK.
    let insert = |columns: &str, values: &str| {
        let copied = "tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries, state";
        format!("insert into runs (id, {copied}, {columns}) select 'x', {copied}, {values} from runs")
    };
    let inserted = [
        ("epoch >= 0", insert("epoch", "-1")),
        ("json_valid(error)", insert("epoch, error", "0, '{'")),
        ("json_valid(cancel)", insert("epoch, cancel", "0, '{'")),
        ("json_valid(beside)", insert("epoch, beside", "0, '{'")),
    ];
    let table = table.into_iter().map(|(constraint, statement)| (constraint, statement.to_owned()));
    let mut refusals = Vec::new();
    for (constraint, statement) in table.chain(ended).chain(inserted) {
        let statement = statement.as_str();
        connection.execute_batch("begin").unwrap();
        let refusal = connection.execute_batch(statement).expect_err(statement).to_string();
        connection.execute_batch("rollback").unwrap();
        assert!(refusal.contains(constraint), "{statement}: {refusal}");
        refusals.push((target(statement), refusal));
    }
    let mut promises = promises(&connection);
    promises.retain(|(table, verb, words)| {
        !refusals.iter().any(|((of, tried), refusal)| {
            of == table && verb.as_ref().is_none_or(|verb| verb == tried) && refusal.ends_with(words)
        })
    });
    assert_eq!(promises, [], "these have no test");
}

/// The table that the last of some statements is about, and what that does to it.
fn target(statements: &str) -> (String, String) {
    let last = statements.rsplit("; ").next().unwrap();
    let mut words = last.split_whitespace().filter(|word| !["into", "from", "or", "replace"].contains(word));
    let verb = words.next().unwrap().to_owned();
    (words.next().unwrap().to_owned(), verb)
}

/// Every CHECK, unique index and trigger of the schema: its table, the verb that a trigger is for, and what it is refused with.
fn promises(connection: &Connection) -> Vec<(String, Option<String>, String)> {
    let mut promises = Vec::new();
    let schema = "select type, tbl_name, sql from sqlite_schema where type in ('table', 'trigger') and sql is not null";
    let mut schema = connection.prepare(schema).unwrap();
    let rows = schema.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    for row in rows {
        let (kind, table, sql): (String, String, String) = row.unwrap();
        if kind == "table" {
            promises.extend(checks(&sql).into_iter().map(|check| (table.clone(), None, check)));
        } else if sql.contains("raise(abort") && !sql.contains("instead of") {
            let verb = sql.split(" before ").nth(1).unwrap().split(' ').next().unwrap();
            let words = sql.split("raise(abort, '").nth(1).unwrap().split('\'').next().unwrap();
            promises.push((table, Some(verb.to_owned()), words.to_owned()));
        }
    }
    let unique = "select t.name, (select group_concat(t.name || '.' || c.name, ', ') from pragma_index_info(i.name) as c)
        from sqlite_schema as t, pragma_index_list(t.name) as i where t.type = 'table' and i.\"unique\"";
    let mut unique = connection.prepare(unique).unwrap();
    let rows = unique.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?))).unwrap();
    for row in rows {
        let (table, columns): (String, String) = row.unwrap();
        // Triggers refuse a second one before the index can.
        if !["audit_chain", "events", "runs"].contains(&table.as_str()) {
            promises.push((table, None, format!("UNIQUE constraint failed: {columns}")));
        }
    }
    promises
}

/// How the CHECKs of a table are named when they refuse: by their names, or by what they say.
fn checks(sql: &str) -> Vec<String> {
    let starts = sql.match_indices("check (").map(|(at, _)| at);
    let named = |at: usize| {
        let name = sql[..at].trim_end().rsplit(' ').next().unwrap();
        sql[..at].trim_end().ends_with(&format!("constraint {name}")).then(|| name.to_owned())
    };
    let said = |at: usize| {
        let text = &sql[at + "check (".len()..];
        let mut depth = 1;
        let end = text.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        text[..end.unwrap()].to_owned()
    };
    starts.map(|at| format!("CHECK constraint failed: {}", named(at).unwrap_or_else(|| said(at)))).collect()
}

#[tokio::test]
async fn a_changed_or_missing_entry_is_found() {
    let table = [
        ("", None),
        (
            "drop trigger audit_keeps_its_entries; update audit set actor = 'bob' where id = 2",
            Some("entry 2 was changed"),
        ),
        ("drop trigger audit_loses_no_entry; delete from audit where id = 2", Some("entry 2 is missing")),
        (
            "drop trigger audit_chain_loses_no_link; delete from audit_chain where number = 1",
            Some("entry 1 is missing"),
        ),
        (
            "drop trigger audit_chain_keeps_its_links; update audit_chain set hash = zeroblob(32) where number = 3",
            Some("entry 3 was changed"),
        ),
    ];
    for (tampering, fault) in table {
        let folder = folder();
        let (store, tenant_id) = open_with_job(&folder).await;
        for _ in 0..3 {
            store.trigger(wish(tenant_id)).await.unwrap();
        }
        let connection = Connection::open(folder.path().join("store.db")).unwrap();
        connection.execute_batch(tampering).unwrap();
        let found = store.verify_audit(None).await.unwrap().fault.map(|fault| fault.to_string());
        assert_eq!(found.as_deref(), fault, "{tampering}");
    }
}

#[tokio::test]
async fn an_entry_is_linked_whatever_its_id_is() {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    store.trigger(wish(tenant_id)).await.unwrap();
    let connection = Connection::open(folder.path().join("store.db")).unwrap();
    let insert = |ids: &str| {
        let entry = "'t', 'bob', 'x', 's', '{}'";
        let insert = format!(
            "insert into audit (id, at_ms, tenant_id, actor, action, subject, detail) select value, 1, {entry} from json_each('[{ids}]')"
        );
        connection.execute_batch(&insert).unwrap();
    };
    // Before all there are, between them, and behind them in either order.
    insert("-3");
    store.trigger(wish(tenant_id)).await.unwrap();
    insert("20, 12, 0, 11, 30");
    store.trigger(wish(tenant_id)).await.unwrap();
    insert("15");
    store.trigger(wish(tenant_id)).await.unwrap();
    let audited = store.verify_audit(None).await.unwrap();
    assert_eq!((audited.entries, audited.unlinked, audited.fault), (12, 0, None));
    let order: String = connection
        .query_row(
            "select group_concat(audit_id) from (select audit_id from audit_chain order by number)",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(order, "1,2,3,-3,11,12,20,30,31,0,32,15");
}

#[tokio::test]
async fn a_row_that_cannot_be_read_holds_up_no_other() {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    let connection = Connection::open(folder.path().join("store.db")).unwrap();
    connection.execute_batch("drop trigger runs_stay_readable").unwrap();
    let damage = async |numbers: &str| {
        connection
            .execute_batch(&format!("update runs set cancel = '[]' where number in ({numbers})"))
            .unwrap();
    };
    holds_up_no_other(&store, tenant_id, || wish(tenant_id), damage).await;
}
