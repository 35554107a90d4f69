//! What is looked for often is found by an index, however much has finished.

use crate::database::{connect, database, open, tenant, wish};
use crate::statements::statement;

/// The statements that are executed as the role `trueup_tenant`.
const OF_A_TENANT: [&str; 19] = [
    "answer_of",
    "audit_from_of_tenant",
    "connections",
    "events_of_run",
    "jobs",
    "keys",
    "observed",
    "observed_by_id",
    "observed_in_state",
    "observed_silent",
    "read_from_of_tenant",
    "revisions",
    "runs",
    "runs_in_state",
    "runs_of_job",
    "runs_of_job_in_state",
    "runs_of_verdict",
    "runs_silent",
    "stages_of_run",
];

#[tokio::test]
async fn finding_runs_reads_no_whole_table() {
    let url = database();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    store.trigger(wish(tenant_id)).await.unwrap();
    let raw = connect(&url).await;
    let columns = "id, tenant_id, job_id, revision, queue, params, mode, triggered_by, requested_at_ms, deadline_ms, retries";
    let copied = columns.replacen("id", "gen_random_uuid()", 1);
    let fill = |state: &str, more: &str, values: &str, count: u32| {
        format!(
            "insert into trueup.runs ({columns}, state, epoch{more})
             select {copied}, '{state}', 1{values} from trueup.runs, generate_series(1, {count}) where number = 1;"
        )
    };
    let finished = fill("completed", ", finished_at_ms, verdict", ", 1, 'MATCHED'", 30_000);
    let waiting = fill("requested", "", "", 500);
    let owned = |state: &str, more: &str, values: &str| {
        let more = format!(", submits, attempt, due_at_ms{more}");
        fill(state, &more, &format!(", 1, 2, 1000 + generate_series{values}"), 300)
    };
    let claimed = owned("scheduling", ", executor", ", 'e' || generate_series");
    let pausing = owned("scheduling", "", "");
    let handed_off = owned("scheduled", "", "");
    let retried = owned("scheduled", ", deadline_at_ms", ", 2000 + generate_series");
    let running = owned("running", ", deadline_at_ms, worker", ", 1, 'w'");
    let told = "insert into trueup.events select event_id + 9 + number, 't' || number % 100, run_id, type, source, time, data
        from trueup.events, generate_series(1, 30000) as number where type = 'run.triggered';
        insert into trueup.event_positions select row_number() over (order by event_id) + 9, event_id, tenant_id, run_id || event_id % 50 from trueup.events
        where tenant_id like 't%';
        insert into trueup.observed (id, tenant_id, state, steps, opened_at_ms, updated_at_ms, finished_at_ms, changes)
        select number, (select min(tenant_id) from trueup.runs), case when number % 50 = 7 then 'running' else 'completed' end, '[]', number, number, case when number % 50 = 7 then null else number end, 1
        from generate_series(1, 30000) as number;
        insert into trueup.audit (at_ms, tenant_id, actor, action, subject, detail)
        select number, 't' || number % 100, 'a', 'x', 's', '{}' from generate_series(1, 30000) as number;
        insert into trueup.audit_chain select id + 9, id, sha256(''), tenant_id from trueup.audit where tenant_id like 't%';";
    let fill = [finished, waiting, claimed, pausing, handed_off, retried, running, told.to_owned()].join(" ");
    raw.batch_execute(&format!(
        "{fill} analyze trueup.runs, trueup.observed, trueup.events, trueup.event_positions, trueup.audit, trueup.audit_chain"
    ))
    .await
    .unwrap();
    let tenant = format!("'{tenant_id}'");
    let listed = |more: &str| format!("{tenant}, 99, 7, 1, 2, 10{more}");
    // What a sweep passes over is told by the index alone.
    let due = "Index Cond: (due_at_ms <= ";
    let overdue = "Index Cond: ((deadline_at_ms IS NOT NULL) AND (deadline_at_ms <= ";
    let table = [
        ("find_waiting", " runs_waiting ", format!("{tenant}, 'default', 10")),
        ("find_pause_over", " runs_pausing ", "1, 10".to_owned()),
        ("find_pause_over", due, "1, 10".to_owned()),
        ("find_stale_claims", " runs_claimed ", "1, 'e', 10".to_owned()),
        ("find_handed_off", " runs_handed_off ", "1, 10".to_owned()),
        ("find_handed_off", due, "1, 10".to_owned()),
        ("find_to_take", " runs_to_take ", "1, 10".to_owned()),
        ("find_lease_out", " runs_leased ", "1, 10".to_owned()),
        ("find_lease_out", due, "1, 10".to_owned()),
        ("find_overdue", " runs_retried ", "1, 10".to_owned()),
        ("find_overdue", overdue, "1, 10".to_owned()),
        ("find_to_withdraw", " runs_to_stop ", "1, 10".to_owned()),
        ("next_pause", " runs_pausing ", "1".to_owned()),
        ("lock_queues", " runs_waiting ", String::new()),
        ("waiting_queues", " runs_waiting ", String::new()),
        ("waiting", " runs_waiting ", format!("{tenant}, 'default', 10")),
        ("runs", " runs_of_a_tenant ", listed("")),
        ("runs_in_state", " runs_in_a_state ", listed(", '{failed,running}', null")),
        ("runs_of_verdict", " runs_of_a_verdict ", listed(", '{MATCHED}'")),
        ("runs_of_job", " runs_of_a_job ", listed(", 'j'")),
        ("runs_of_job_in_state", " runs_of_a_job_in_a_state ", listed(", 'j', '{failed,MATCHED}'")),
        ("numbers_between", " runs_of_a_tenant ", format!("{tenant}, 7, 8")),
        ("run", " runs_id_key ", "'x'".to_owned()),
        ("find_finished", " runs_finished ", "1, 0, 0, 10".to_owned()),
        ("find_finished", "Index Cond: ((finished_at_ms < ", "1, 0, 0, 10".to_owned()),
        ("observed", " observed_of_a_tenant ", listed("")),
        ("observed_between", " observed_by_time ", format!("{tenant}, 1, 2")),
        ("observed_by_id", " observed_id_tenant_id_key ", format!("{tenant}, 'x'")),
        ("lock_observed", " observed_id_tenant_id_key ", format!("{tenant}, '{{x,y}}'")),
        ("observed_in_state", " observed_in_a_state ", listed(", '{failed,running}'")),
        ("observed_silent", " observed_going_on ", format!("{tenant}, 9, 10")),
        ("forget_observed", " observed_finished ", "9, 10".to_owned()),
        ("runs_silent", " runs_in_a_state ", format!("{tenant}, 9, 10")),
        ("runs_silent", " positions_of_a_run ", format!("{tenant}, 9, 10")),
        ("stages_of_run", " positions_of_a_run ", "'x', 't7', 10".to_owned()),
        ("events_of_run", " positions_of_a_run ", "'x', 7, 10, 't7'".to_owned()),
        ("keys", " keys_of_a_tenant ", "'t7', '', 10".to_owned()),
        ("key_of", " keys_hash_key ", "sha256('')".to_owned()),
        ("tenants", " tenants_pkey ", "'', 10".to_owned()),
        ("jobs", " jobs_tenant_id_name_key ", "'t7', '', 10".to_owned()),
        ("revisions", " job_revisions_pkey ", "'t7', 'j7', 10, 10".to_owned()),
        ("connections", " connections_pkey ", "'t7', '', 10".to_owned()),
        ("answer_of", " answers_pkey ", "'t7', 'k'".to_owned()),
        ("forget_answers", " answers_by_age ", "7, 10".to_owned()),
        ("audit_from", " audit_chain_pkey ", "7, 10".to_owned()),
        ("audit_from_of_tenant", " audit_of_a_tenant ", "7, 't7', 10".to_owned()),
        ("read_from", " event_positions_pkey ", "7, 10".to_owned()),
        ("read_from_of_tenant", " events_of_a_tenant ", "7, 't7', 10".to_owned()),
    ];
    for plans in ["force_custom_plan", "force_generic_plan"] {
        for (name, step, arguments) in &table {
            let arguments = if arguments.is_empty() { String::new() } else { format!("({arguments})") };
            let explain = format!("explain execute one {arguments}");
            raw.batch_execute(&format!("set plan_cache_mode = {plans}; prepare one as {}", statement(name)))
                .await
                .unwrap();
            // What is read for a tenant is read as a role that sees no other.
            let roles = if OF_A_TENANT.contains(name) { &["none", "trueup_tenant"][..] } else { &["none"] };
            for role in roles {
                raw.batch_execute(&format!("set role {role}")).await.unwrap();
                let plan = raw.simple_query(&explain).await.unwrap();
                let plan = format!("{role}, {plan:?}");
                for table in ["runs", "observed", "events", "event_positions", "audit", "audit_chain"] {
                    assert!(!plan.contains(&format!("Seq Scan on {table}")), "{name}, {plans}: {plan}");
                }
                assert!(plan.contains(step), "{name}, {plans}: {plan}");
            }
            raw.batch_execute("reset role; deallocate one").await.unwrap();
        }
    }
}
