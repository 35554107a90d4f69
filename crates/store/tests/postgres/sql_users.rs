//! Who may start runs by SQL, what that does, and what else they may: nothing.

use serde_json::json;
use trueup_events::TenantId;
use trueup_lifecycle::Limits;
use trueup_store::{JobDocument, RunFilter, Store};
use trueup_testkit::{Postgres, blocks};

use crate::database::{connect, database, ledger, open, tenant};

/// Makes a user who may start runs, and gives the URL to log in with.
async fn starter(url: &str, user: &str) -> String {
    let raw = connect(url).await;
    let make = format!(
        "do $$ begin create role {user} login in role trueup_start; exception when duplicate_object then null; end $$"
    );
    raw.batch_execute(&make).await.unwrap();
    Postgres::shared().url(user, url.rsplit('/').next().unwrap())
}

async fn count(store: &Store, tenant_id: TenantId) -> usize {
    let filter = RunFilter::of(tenant_id, 100);
    store.runs(&filter).await.unwrap().len()
}

#[tokio::test]
async fn a_run_starts_with_the_callers_transaction() {
    let url = database();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    let caller = connect(&starter(&url, "starter_a").await).await;
    let start = "select trueup.start_run('ledger', '{\"day\": 1}')";
    caller.batch_execute(&format!("begin; {start}; rollback")).await.unwrap();
    assert_eq!((count(&store, tenant_id).await, store.read_from(0, None, 9).await.unwrap().len()), (0, 0));

    let mut changes = store.changes();
    changes.mark_unchanged();
    let run_id: String = caller.query_one(start, &[]).await.unwrap().get(0);
    changes.changed().await.unwrap();
    let run_id = run_id.parse().unwrap();
    let record = store.run(tenant_id, run_id).await.unwrap().unwrap();
    assert_eq!((record.triggered_by.as_str(), &record.params), ("starter_a", &r#"{"day": 1}"#.to_owned()));

    // The same is told as of a run that the server was asked for.
    let asked =
        trueup_store::NewRun { triggered_by: "starter_a".to_owned(), ..crate::database::wish(tenant_id) };
    let other = store.trigger(asked).await.unwrap();
    let mut told = Vec::new();
    while told.len() < 2 {
        changes.changed().await.unwrap();
        told = store.events_of(tenant_id, run_id, 0, 9).await.unwrap();
    }
    let expected = store.events_of(tenant_id, other, 0, 9).await.unwrap();
    for (by_sql, by_server) in told.iter().zip(&expected) {
        assert_eq!((&by_sql.name, &by_sql.source), (&by_server.name, &by_server.source));
        let data = by_server.data.to_string().replace(&other.to_string(), &run_id.to_string());
        assert_eq!(by_sql.data.to_string(), data);
        assert_eq!(by_sql.time.unix_us() / 1000, by_sql.event_id.unix_ms().cast_signed());
        assert_eq!((by_sql.event_id.get() >> 12) & 1023, 1023);
    }
    assert_eq!((told.len(), expected.len()), (2, 2));
    assert_eq!(told[1].causation_id, Some(told[0].event_id));
    let raw = connect(&url).await;
    let details = "select array_agg(actor || action || detail::text order by id) from trueup.audit where action = 'trigger'";
    let details: Vec<String> = raw.query_one(details, &[]).await.unwrap().get(0);
    assert_eq!(details[0], details[1]);
    assert_eq!(store.verify_audit(None).await.unwrap().fault, None);
    assert_eq!(store.claim_for_scheduling("e", 9).await.unwrap().len(), 2);
}

#[tokio::test]
async fn params_may_be_of_any_type_that_is_json() {
    let url = database();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    let caller = connect(&starter(&url, "starter_types").await).await;
    let table = [
        ("'ledger'", "{}"),
        ("'ledger', null", "{}"),
        ("'ledger', '{\"day\":1}'", "{\"day\":1}"),
        ("'ledger', '{\"day\":1}'::json", "{\"day\":1}"),
        ("'ledger', '{\"day\":1}'::jsonb", "{\"day\": 1}"),
        ("'ledger', jsonb_build_object('day', 1)", "{\"day\": 1}"),
        ("job => 'ledger', params => '{\"day\":1}'::varchar", "{\"day\":1}"),
    ];
    for (arguments, params) in table {
        let start = format!("select trueup.start_run({arguments})");
        let run_id: String = caller.query_one(&start, &[]).await.unwrap().get(0);
        let record = store.run(tenant_id, run_id.parse().unwrap()).await.unwrap().unwrap();
        assert_eq!(
            (record.params.as_str(), record.triggered_by.as_str()),
            (params, "starter_types"),
            "{arguments}"
        );
    }
    let stranger =
        "do $$ begin create role stranger login; exception when duplicate_object then null; end $$";
    let raw = connect(&url).await;
    raw.batch_execute(&format!("{stranger}; grant usage on schema trueup to stranger")).await.unwrap();
    let stranger = connect(&Postgres::shared().url("stranger", url.rsplit('/').next().unwrap())).await;
    for (arguments, _) in table {
        let refused =
            stranger.query_one(&format!("select trueup.start_run({arguments})"), &[]).await.unwrap_err();
        assert_eq!(refused.code().unwrap().code(), "42501", "{arguments}: {refused:?}");
    }
}

#[tokio::test]
async fn a_queue_that_another_transaction_holds_is_busy() {
    let url = database();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    let limits = Limits { max_running: None, max_waiting: Some(9) };
    store.set_queue(tenant_id, "default", limits, "ann").await.unwrap();
    let starter = starter(&url, "starter_busy").await;
    let (holder, caller) = (connect(&starter).await, connect(&starter).await);
    let start = "select trueup.start_run('ledger')";
    holder.batch_execute(&format!("begin; {start}")).await.unwrap();
    caller.batch_execute("begin; set local lock_timeout = '9s'; savepoint before").await.unwrap();
    let refused = caller.batch_execute(start).await.unwrap_err();
    let error = refused.as_db_error().unwrap();
    assert_eq!(
        (error.code().code(), error.message()),
        ("55P03", "the queue \"default\" is busy: another transaction asks for a run and has not ended")
    );
    holder.batch_execute("commit").await.unwrap();
    caller.batch_execute(&format!("rollback to before; {start}")).await.unwrap();
    let own: String = caller.query_one("show lock_timeout", &[]).await.unwrap().get(0);
    assert_eq!(own, "9s", "what the caller has set is theirs");
    caller.batch_execute("commit").await.unwrap();
    assert_eq!(count(&store, tenant_id).await, 2);
}

#[tokio::test]
async fn they_may_do_nothing_else() {
    let url = database();
    let store = open(&url).await;
    tenant(&store).await;
    let caller = connect(&starter(&url, "starter_b").await).await;
    let raw = connect(&url).await;
    let tables = "select relname::text from pg_class where relnamespace = 'trueup'::regnamespace and relkind in ('r', 'v', 'S')";
    let tables: Vec<String> = raw.query(tables, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert!(tables.len() > 12, "{tables:?}");
    let mut attempts: Vec<String> = tables
        .iter()
        .flat_map(|table| {
            [
                "select * from trueup.{}",
                "insert into trueup.{} default values",
                "delete from trueup.{}",
                "truncate trueup.{}",
            ]
            .map(|attempt| attempt.replace("{}", table))
        })
        .collect();
    let functions = "select oid::regprocedure::text from pg_proc where pronamespace = 'trueup'::regnamespace and proname <> 'start_run'";
    for row in raw.query(functions, &[]).await.unwrap() {
        let function: String = row.get(0);
        let (name, types) = function.trim_end_matches(')').split_once('(').unwrap();
        let nulls: Vec<String> =
            types.split(',').filter(|one| !one.is_empty()).map(|one| format!("null::{one}")).collect();
        attempts.push(format!("select {name}({})", nulls.join(",")));
    }
    attempts.push("create table trueup.mine (id int)".to_owned());
    attempts.push("update trueup.runs set state = 'completed'".to_owned());
    for attempt in attempts {
        let refused = caller.batch_execute(&attempt).await.unwrap_err();
        let code = refused.code().unwrap().code();
        // A sequence is no table to insert into, and a trigger's function is no function to call, whoever asks.
        assert!(["42501", "42809", "0A000"].contains(&code), "{attempt}: {refused:?}");
    }
}

#[tokio::test]
async fn identity_is_the_callers_own() {
    let url = database();
    let store = open(&url).await;
    let acme = tenant(&store).await;
    let caller = connect(&starter(&url, "starter_c").await).await;
    let first: String = caller.query_one("select trueup.start_run('ledger')", &[]).await.unwrap().get(0);

    let globex = store.tenant("globex").await.unwrap();
    store.save_job(globex, ledger(), "bob").await.unwrap();
    let refused = caller.query_one("select trueup.start_run('ledger')", &[]).await.unwrap_err();
    assert_eq!(refused.as_db_error().unwrap().message(), "the database user \"starter_c\" is of no tenant");

    let raw = connect(&url).await;
    let mine = "insert into trueup.callers values ('starter_c', $1)";
    raw.execute(mine, &[&globex.to_string()]).await.unwrap();
    let params = json!({ "tenant_id": acme.to_string(), "run_id": first, "id": first, "triggered_by": "ann", "role": "postgres" });
    let start = format!("select trueup.start_run('ledger', '{params}')");
    let second: String = caller.query_one(&start, &[]).await.unwrap().get(0);
    assert_ne!(first, second);
    let record = store.run(globex, second.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((record.triggered_by.as_str(), record.params), ("starter_c", params.to_string()));
    assert_eq!((count(&store, acme).await, count(&store, globex).await), (1, 1));

    let unknown = caller.query_one("select trueup.start_run('nope')", &[]).await.unwrap_err();
    assert_eq!(unknown.as_db_error().unwrap().message(), "there is no job named \"nope\": save it first");
}

#[tokio::test]
async fn the_page_shows_how() {
    let url = database();
    let store = open(&url).await;
    let tenant_id = tenant(&store).await;
    let daily = JobDocument { name: "daily-revenue".to_owned(), ..ledger() };
    store.save_job(tenant_id, daily, "ann").await.unwrap();
    let caller = connect(&starter(&url, "starter_page").await).await;
    let page = include_str!("../../../../docs/store.md");
    let shown: Vec<_> =
        blocks(page, "sql").into_iter().filter(|sql| sql.contains("trueup.start_run")).collect();
    assert_eq!(shown.len(), 1);
    let run_id: String = caller.query_one(shown[0], &[]).await.unwrap().get(0);
    let record = store.run(tenant_id, run_id.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(record.params, r#"{"date": "2026-09-21"}"#);
}
