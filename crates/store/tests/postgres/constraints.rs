//! The database repeats the invariants: raw SQL that breaks one is refused by name.

use crate::damaged::holds_up_no_other;
use crate::database::{connect, database, open, tenant, wish};

#[tokio::test]
async fn every_constraint_refuses() {
    let url = database();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    store.trigger(wish(tenant_id)).await.unwrap();
    store.read_from(0, None, 9).await.unwrap();
    store.close().await.unwrap();
    let raw = connect(&url).await;
    let running =
        "state = 'running', worker = 'w', due_at_ms = 1, submits = 1, attempt = 1, deadline_at_ms = 1";
    let completed = "state = 'completed', finished_at_ms = 1, verdict = 'MATCHED'";
    let observe = |values: &str| {
        format!(
            "insert into trueup.observed (steps, opened_at_ms, updated_at_ms, id, tenant_id, state, finished_at_ms, changes) select '[]', 1, 1, {values} from trueup.tenants"
        )
    };
    let update = |set: &str| format!("update trueup.runs set {set}");
    let key = |role: &str, hash: &str| {
        format!("insert into trueup.keys select 'k', id, 'n', {role}, {hash}, 1, 'ann' from trueup.tenants")
    };
    let put = |version: &str| {
        format!(
            "insert into trueup.connections select id, 'n', 'postgres', '{{}}', '', {version}, 1, 'ann' from trueup.tenants"
        )
    };
    let answer = |hash: &str, status: &str| {
        format!("insert into trueup.answers select id, 'k', {hash}, {status}, '', 1 from trueup.tenants")
    };
    let table = [
        ("meta_only_row_check", "insert into trueup.meta values (2, 0, 0, 'x')".to_owned()),
        ("meta_next_node_check", "update trueup.meta set next_node = 1023".to_owned()),
        ("meta_last_position_check", "update trueup.meta set last_position = -1".to_owned()),
        ("tenants_name_key", "insert into trueup.tenants values ('x', 'acme')".to_owned()),
        ("role_is_known", key("'root'", "sha256('')")),
        ("keys_hash_check", key("'admin'", "''")),
        ("keys_tenant_id_fkey", key("'admin'", "sha256('')").replace("select 'k', id", "select 'k', 'x'")),
        (
            "keys_hash_key",
            format!("{}; {}", key("'admin'", "sha256('')"), key("'admin'", "sha256('')").replace("'k'", "'l'")),
        ),
        ("connections_version_check", put("0")),
        ("connections_pkey", format!("{}; {}", put("1"), put("2"))),
        ("answers_request_hash_check", answer("''", "200")),
        ("answers_status_check", answer("sha256('')", "99")),
        ("answers_pkey", format!("{0}; {0}", answer("sha256('')", "200"))),
        ("queues_max_running_check", "update trueup.queues set max_running = 0".to_owned()),
        ("queues_max_waiting_check", "update trueup.queues set max_waiting = -1".to_owned()),
        (
            "jobs_tenant_id_name_key",
            "insert into trueup.jobs select 'x', tenant_id, name, 1 from trueup.jobs".to_owned(),
        ),
        ("jobs_tenant_id_fkey", "update trueup.jobs set tenant_id = 'x'".to_owned()),
        ("job_revisions_revision_check", "update trueup.job_revisions set revision = 0".to_owned()),
        ("job_revisions_deadline_ms_check", "update trueup.job_revisions set deadline_ms = 0".to_owned()),
        ("job_revisions_retries_check", "update trueup.job_revisions set retries = -1".to_owned()),
        ("runs_mode_check", update("mode = 'LATER'")),
        ("runs_deadline_ms_check", update("deadline_ms = 0")),
        ("runs_retries_check", update("retries = -1")),
        ("runs_state_check", update("state = 'lost'")),
        (
            "runs_epoch_check",
            "insert into trueup.runs (id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries, state, epoch)
             select 'x', tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries, 'requested', -1
             from trueup.runs limit 1"
                .to_owned(),
        ),
        ("runs_never_get_an_earlier_owner", update("epoch = -1")),
        ("events_are_never_changed", "update trueup.events set type = 'run.finalised'".to_owned()),
        ("runs_verdict_check", update(&completed.replace("MATCHED", "MAYBE"))),
        ("runs_tenant_id_queue_fkey", update("queue = 'none'")),
        ("runs_job_id_revision_fkey", update("revision = 9")),
        ("requested_has_no_owner", update("submits = 1")),
        ("scheduling_has_an_executor_or_a_pause", update("state = 'scheduling', executor = 'e'")),
        ("scheduled_has_no_owner", update("state = 'scheduled'")),
        ("running_has_a_lease", update(&running.replace("'w'", "null"))),
        ("running_has_a_deadline", update(&running.replace("deadline_at_ms = 1", "deadline_at_ms = null"))),
        ("only_scheduling_has_an_executor", update(&format!("{completed}, executor = 'e'"))),
        (
            "terminal_has_a_finish_time",
            update(&completed.replace("finished_at_ms = 1", "finished_at_ms = null")),
        ),
        ("terminal_has_no_lease", update(&format!("{completed}, due_at_ms = 1"))),
        ("completed_has_a_verdict", update(&completed.replace("'MATCHED'", "null"))),
        ("failed_has_an_error", update("state = 'failed', finished_at_ms = 1")),
        ("cancelled_names_who", update("state = 'cancelled', finished_at_ms = 1")),
        ("second_outcome_follows_a_first", update(r#"beside = '{"result": "MATCHED"}'"#)),
        ("error_is_readable", update(r#"state = 'failed', finished_at_ms = 1, error = '{"code": "CRASHED"}'"#)),
        ("cancel_is_readable", update(r#"cancel = '{"by": "ann", "at_ms": "now"}'"#)),
        ("beside_is_readable", update(&format!("{completed}, beside = '{{}}'"))),
        (
            "events_event_id_check",
            "insert into trueup.events (event_id, tenant_id, run_id, type, source, time, data) select -event_id, tenant_id, run_id, type, source, time, data from trueup.events"
                .to_owned(),
        ),
        (
            "one_end_is_told",
            "insert into trueup.events (event_id, tenant_id, run_id, type, source, time, data) select event_id + 9, tenant_id, run_id, 'run.finalised', source, time, data from trueup.events"
                .to_owned(),
        ),
        ("event_positions_position_check", "insert into trueup.event_positions values (0, 1, 't', 'r')".to_owned()),
        (
            "event_positions_event_id_key",
            "insert into trueup.event_positions select 99, event_id, tenant_id, run_id from trueup.event_positions limit 1"
                .to_owned(),
        ),
        ("audit_chain_number_check", "insert into trueup.audit_chain values (0, 99, sha256(''), 't')".to_owned()),
        (
            "audit_chain_audit_id_key",
            "insert into trueup.audit_chain select 99, audit_id, hash, tenant_id from trueup.audit_chain limit 1"
                .to_owned(),
        ),
        ("audit_chain_hash_check", "insert into trueup.audit_chain values (99, 99, '', 't')".to_owned()),
        (
            "events_mark_check",
            "insert into trueup.events (event_id, tenant_id, run_id, type, source, time, data, mark) select event_id + 9, tenant_id, run_id, type, source, time, data, 'odd' from trueup.events"
                .to_owned(),
        ),
        ("observed_state_check", observe("'7', id, 'lost', null, 1")),
        ("observed_end_has_a_time", observe("'7', id, 'failed', null, 1")),
        ("observed_changes_check", observe("'7', id, 'running', null, -1")),
        ("observed_tenant_id_fkey", observe("'7', 'x', 'running', null, 1")),
        (
            "observed_id_tenant_id_key",
            format!("{0}; {0}", observe("'7', id, 'running', null, 1")),
        ),
        (
            "observed_stay_ended",
            format!("{}; update trueup.observed set changes = 2", observe("'7', id, 'failed', 1, 1")),
        ),
        ("callers_tenant_id_fkey", "insert into trueup.callers values ('r', 'x')".to_owned()),
    ];
    let failed =
        update(r#"state = 'failed', finished_at_ms = 1, error = '{"code": "CRASHED", "message": "m"}'"#);
    let changes = [
        "state = 'completed', verdict = 'MATCHED', error = null",
        "state = 'requested', finished_at_ms = null, error = null",
        "state = 'timeout'",
        "epoch = epoch + 1",
        "finished_at_ms = 2",
        r#"error = '{"code": "CRASHED", "message": "n"}'"#,
        r#"cancel = '{"by": "ann", "at_ms": 1}'"#,
        r#"beside = '{"result": "MATCHED"}'; update trueup.runs set beside = '{"result": "UNMATCHED"}'"#,
        r#"beside = '{"result": "MATCHED"}'; update trueup.runs set beside = null"#,
    ];
    let ended = changes.map(|change| ("runs_stay_ended", format!("{failed}; {}", update(change))));
    for (constraint, statement) in table.iter().chain(&ended) {
        let refused = raw.batch_execute(statement).await.expect_err(constraint);
        let refused = refused.as_db_error().unwrap();
        assert_eq!(refused.constraint(), Some(*constraint), "{statement}: {refused:?}");
    }
    let checks = "select conname::text from pg_constraint where connamespace = 'trueup'::regnamespace and contype = 'c'";
    for row in raw.query(checks, &[]).await.unwrap() {
        let name: String = row.get(0);
        assert!(table.iter().any(|(constraint, _)| *constraint == name), "{name} has no test");
    }
}

#[tokio::test]
async fn a_row_that_cannot_be_read_holds_up_no_other() {
    let url = database();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    let raw = connect(&url).await;
    raw.batch_execute("alter table trueup.runs drop constraint cancel_is_readable").await.unwrap();
    let damage = async |numbers: &str| {
        let damage = format!("update trueup.runs set cancel = '[]' where number in ({numbers})");
        raw.batch_execute(&damage).await.unwrap();
    };
    holds_up_no_other(&store, tenant_id, || wish(tenant_id), damage).await;
}
