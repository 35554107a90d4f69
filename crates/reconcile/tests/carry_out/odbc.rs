//! ODBC as a source, if it is built in.

use crate::scene::Scene;

fn job(query: &str) -> String {
    let query = serde_json::to_string(query).unwrap();
    format!(
        "name: any
params: {{day: {{type: date, default: '2026-01-14'}}}}
connections: {{erp: {{type: odbc, connection_string: '${{env:ERP}}'}}}}
sources: {{ledger: {{connection: erp, query: {query}}}, bank: {{file: bank.csv}}}}
key: [id]
"
    )
}

fn scene(bank: &str, connection_string: &str) -> Scene {
    let mut scene = Scene::new(&[("bank.csv", bank)]);
    scene.variables.insert("ERP", connection_string.to_owned());
    scene
}

#[cfg(not(feature = "odbc"))]
#[test]
fn what_is_not_built_in_is_told_with_the_way_to_build_it() {
    let scene = scene("id\n", "DSN=erp");
    let (told, outcome) = scene.carry_out(&job("select 1 as id"), &[]);
    let expected = "INVALID_JOB: connections.erp.type: ODBC is not built in; build it with `cargo build --release --features odbc`";
    assert_eq!((scene.reason(outcome).as_str(), told.len()), (expected, 0));
}

#[cfg(feature = "odbc")]
mod built_in {
    use trueup_events::outcome::Verdict;
    use trueup_testkit::{Postgres, odbc_to_postgres, odbc_to_sqlite};

    use super::{job, scene};

    #[test]
    fn a_query_with_bound_values_is_reconciled_with_a_file() {
        let connection_string = odbc_to_postgres(&Postgres::shared().database().unwrap());
        let query =
            "select * from (values (1, date '2026-01-14', 10.10), (2, '2026-01-14', 7), (3, '2026-01-13', 0))
            as gl (id, booked_on, amount) where booked_on = {{ params.day }} -- the day's";
        let table = [
            ("1,2026-01-14,10.1\n2,2026-01-14,7.00\n", Verdict::Matched),
            ("1,2026-01-14,10.1\n2,2026-01-14,7.01\n", Verdict::Unmatched),
            ("1,2026-01-14,10.1\n", Verdict::Unmatched),
        ];
        for (rows, verdict) in table {
            let scene = scene(&format!("id,booked_on,amount\n{rows}"), &connection_string);
            let (_, outcome) = scene.carry_out(&job(query), &[]);
            assert_eq!(outcome.unwrap().verdict, verdict, "{rows}");
        }
    }

    #[test]
    fn values_are_the_same_as_without_odbc() {
        let url = Postgres::shared().database().unwrap();
        let mut scene = scene("", &odbc_to_postgres(&url));
        scene.variables.insert("URL", url);
        let values = [
            ("9223372036854775807::int8", "9223372036854775806::int8"),
            (
                "12345678901234567890123456789012345.678::numeric(38,3)",
                "12345678901234567890123456789012345.679::numeric(38,3)",
            ),
            ("0.1::float8 + 0.2::float8", "0.3::float8"),
            ("true", "false"),
            ("date '2026-03-29'", "date '2026-03-30'"),
            ("time '23:59:59.123456'", "time '23:59:59.123457'"),
            ("timestamp '2026-03-29 02:30:00.123456'", "timestamp '2026-03-29 02:30:00.123457'"),
            ("'Größe 🦀 '::text", "'Größe 🦀'::text"),
            ("decode('00ff', 'hex')", "decode('00fe', 'hex')"),
            ("'0a1b2c3d-4e5f-4607-8899-aabbccddeeff'::uuid", "'0a1b2c3d-4e5f-4607-8899-aabbccddeefe'::uuid"),
            ("null::text", "''::text"),
        ];
        for (value, other) in values {
            for (other, verdict) in [(value, Verdict::Matched), (other, Verdict::Unmatched)] {
                let job = format!(
                    "name: same
connections: {{erp: {{type: odbc, connection_string: '${{env:ERP}}'}}, own: {{type: postgres, url: '${{env:URL}}'}}}}
sources:
  odbc: {{connection: erp, query: \"select 1 as id, {value} as v\"}}
  own: {{connection: own, query: \"select 1 as id, {other} as v\"}}
key: [id]
"
                );
                let (_, outcome) = scene.carry_out(&job, &[]);
                assert_eq!(outcome.unwrap().verdict, verdict, "{value} {other}");
            }
        }
    }

    #[test]
    fn each_refusal_has_its_reason_its_source_and_the_drivers_words() {
        let server = Postgres::start_guarded().unwrap();
        let ann = odbc_to_postgres(&server.url("ann:hunter2", "postgres"));
        let wrong = odbc_to_postgres(&server.url("ann:hunter3", "postgres"));
        let folder = tempfile::tempdir().unwrap();
        let file = odbc_to_sqlite(&folder.path().join("ledger.db"));
        server
            .execute(&server.url("postgres", "postgres"), "create table gl (id int); grant all on gl to ann")
            .unwrap();
        let nowhere = odbc_to_postgres("postgres://ann:hunter2@nowhere.invalid:5432/postgres");
        let cut = "select i as id, case i when 90050 then pg_terminate_backend(pg_backend_pid()) end as x from generate_series(1, 100000) as i";
        let halfway = "select 1 / (90000 - i) as id from generate_series(1, 100000) as i";
        let halfway_too = "with recursive n (id) as (select 1 union all select id + 1 from n where id < 9) select abs(case id when 8 then -9223372036854775808 else id end) as id from n";
        let table = [
            (
                wrong.as_str(),
                "select 1 as id",
                "CONNECTION_FAILED: ledger: erp: ",
                "password authentication failed",
            ),
            (
                "DSN=nowhere;PWD=hunter2",
                "select 1 as id",
                "INVALID_JOB: ledger: erp: ",
                "Data source name not found",
            ),
            (
                &ann,
                "select id from nope",
                "SOURCE_MISSING: ledger: erp: ",
                "relation \"nope\" does not exist",
            ),
            (&ann, "drop table gl", "SOURCE_INVALID: ledger: erp: ", "a source is a SELECT"),
            (&nowhere, "select 1 as id", "CONNECTION_FAILED: ledger: erp: ", "nowhere.invalid"),
            (&ann, "delete from gl returning id", "SOURCE_INVALID: ledger: erp: ", "read-only transaction"),
            (&ann, halfway, "SOURCE_INVALID: ledger: erp: ", "division by zero"),
            (&ann, cut, "CONNECTION_FAILED: ledger: erp: ", "terminating connection"),
            (&file, halfway_too, "SOURCE_INVALID: ledger: erp: ", "integer overflow"),
            (&file, "select id from nope", "SOURCE_MISSING: ledger: erp: ", "no such table: nope"),
        ];
        for (connection_string, query, reason, words) in table {
            let scene = scene("id\n", connection_string);
            let (told, outcome) = scene.carry_out(&job(query), &[]);
            let found = scene.reason(outcome);
            assert!(found.starts_with(reason) && found.contains(words), "{query}: {found}");
            assert!(!format!("{found}{}", scene.shown(&told)).contains("hunter"), "{found}");
        }
        for (connection_string, query) in [(&ann, "select id from gl"), (&file, "select 1 as id where false")]
        {
            let (_, outcome) = scene("id\n", connection_string).carry_out(&job(query), &[]);
            assert_eq!(outcome.unwrap().verdict, Verdict::Matched, "an empty result is no failure: {query}");
        }
    }
}
