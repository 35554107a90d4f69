//! What is looked for often is found by an index, however much has finished.

use crate::database::{connect, database, open, tenant, wish};
use crate::statements::statement;

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
    raw.batch_execute(&format!("{finished} {waiting} analyze trueup.runs")).await.unwrap();
    let tenant = format!("'{tenant_id}'");
    // Any of these holds the runs that are under way, and no other.
    let live: &[&str] = &["runs_due", "runs_to_take", "runs_holding_a_slot"];
    let table: [(&str, &[&str], String); 13] = [
        ("find_waiting", &["runs_waiting"], format!("{tenant}, 'default', 10")),
        ("find_pause_over", live, "1, 10".to_owned()),
        ("find_stale_claims", live, "1, 'e', 10".to_owned()),
        ("find_handed_off", live, "1, 10".to_owned()),
        ("find_to_take", live, "1, 10".to_owned()),
        ("find_lease_out", live, "1, 10".to_owned()),
        ("lock_lines", &["runs_waiting"], String::new()),
        ("lines", &["runs_waiting"], String::new()),
        ("waiting", &["runs_waiting"], format!("{tenant}, 'default', 10")),
        ("runs", &["runs_of_a_tenant"], format!("{tenant}, null, 10")),
        ("runs_in_state", &["runs_in_a_state"], format!("{tenant}, null, 10, '{{failed,running}}'")),
        ("runs_of_job", &["runs_of_a_job"], format!("{tenant}, null, 10, 'j', '{{}}'")),
        ("run", &["runs_id_key"], "'x'".to_owned()),
    ];
    for plans in ["force_custom_plan", "force_generic_plan"] {
        for (name, indexes, arguments) in &table {
            let arguments = if arguments.is_empty() { String::new() } else { format!("({arguments})") };
            let explain = format!("explain execute one {arguments}");
            raw.batch_execute(&format!("set plan_cache_mode = {plans}; prepare one as {}", statement(name)))
                .await
                .unwrap();
            let plan = raw.simple_query(&explain).await.unwrap();
            raw.batch_execute("deallocate one").await.unwrap();
            let plan = format!("{plan:?}");
            assert!(!plan.contains("Seq Scan on runs"), "{name}, {plans}: {plan}");
            let is_used = |index: &&str| plan.contains(&format!("using {index} on runs"));
            assert!(indexes.iter().any(is_used), "{name}, {plans}: {plan}");
        }
    }
}
