//! The invariants that the database repeats: raw SQL cannot break them.

use rusqlite::Connection;

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
        (
            "append-only",
            "insert or replace into audit select id, at_ms, tenant_id, 'bob', action, subject, detail from audit",
        ),
        ("cannot store TEXT", "update runs set epoch = 'many'"),
        (
            "runs.id",
            "insert into runs select 2, id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries, state, epoch, null, null, null, null, null, null, null, null, null, null, null, 0 from runs",
        ),
        ("FOREIGN KEY", "update runs set job_id = 'missing'"),
        ("FOREIGN KEY", "update runs set queue = 'missing'"),
        ("FOREIGN KEY", "update runs set tenant_id = 'missing'"),
        ("FOREIGN KEY", "delete from job_revisions"),
        (
            "events.event_id",
            "insert into events (event_id, tenant_id, run_id, type, source, time, data) select event_id, tenant_id, 'r', type, source, time, data from events",
        ),
        (
            "events.run_id",
            "insert into events (event_id, tenant_id, run_id, type, source, time, data) select event_id + 9, tenant_id, run_id, 'run.finalised', source, time, data from events",
        ),
        (
            "events.run_id",
            "insert into events (event_id, tenant_id, run_id, type, source, time, data) select event_id + 9, tenant_id, run_id, case position when 1 then 'run.finalised' else 'run.cancelled' end, source, time, data from events",
        ),
        ("next_node between", "update meta set next_node = 1023"),
        ("only_row = 1", "insert into meta values (2, 0, 0, 's')"),
        ("max_running between", "update queues set max_running = 0"),
        ("max_waiting between", "update queues set max_waiting = -1"),
        ("tenants.name", "insert into tenants select 'x', name from tenants"),
        ("jobs.name", "insert into jobs select 'x', tenant_id, name, 1 from jobs"),
        ("revision > 0", "update job_revisions set revision = 0"),
        ("append-only", "update audit set actor = 'bob'"),
        ("append-only", "delete from audit where id = 1"),
        ("append-only", "update audit_chain set hash = zeroblob(32)"),
        ("append-only", "delete from audit_chain where number = 1"),
        ("length(hash) = 32", "insert into audit_chain values (99, 99, x'00')"),
        ("append-only", "insert into audit_chain select 99, audit_id, hash from audit_chain limit 1"),
    ];
    for (constraint, statement) in table {
        let kept = connection.execute_batch(statement).expect_err(statement).to_string();
        assert!(kept.contains(constraint), "{statement}: {kept}");
    }
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
async fn a_row_that_cannot_be_read_holds_up_no_other() {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    for _ in 0..4 {
        store.trigger(wish(tenant_id)).await.unwrap();
    }
    let connection = Connection::open(folder.path().join("store.db")).unwrap();
    connection.execute_batch("drop trigger runs_stay_readable").unwrap();
    let damage = |numbers: &str| {
        connection
            .execute_batch(&format!("update runs set cancel = '[]' where number in ({numbers})"))
            .unwrap();
    };
    damage("1, 2");
    let claimed = store.claim_for_scheduling("e", 1).await.unwrap();
    assert_eq!(claimed.iter().map(|one| one.record.number).collect::<Vec<_>>(), [3]);
    let claimed: Vec<_> =
        claimed.into_iter().chain(store.claim_for_scheduling("e", 9).await.unwrap()).collect();
    for one in claimed {
        store.hand_off(one.claim).await.unwrap();
    }
    damage("3");
    let taken = store.take("w", 1).await.unwrap();
    assert_eq!(taken.iter().map(|one| one.record.number).collect::<Vec<_>>(), [4]);
}
