//! What is told, in order.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use trueup_events::Payload;
use trueup_events::outcome::Verdict;
use trueup_events::payload::{Reading, RowsProcessed};
use trueup_testkit::Postgres;

use crate::scene::Scene;

const LEDGER: &str = "region,account,amount\nN,1,10.00\nN,2,20.00\nS,1,5.00\n";
const BANK: &str = "region,account,amount\nN,1,10.01\nN,2,20.00\nS,1,5.00\nS,9,0.00\n";

const STAGED: &str = "
name: daily
sources: {ledger: {file: ledger.csv}, bank: {file: bank.csv}}
dimensions: [region, account]
measures: [{name: amount, aggregate: sum}]
stages:
  - {name: by-region, dimensions: [region], tolerances: {amount: '0.01'}}
  - {name: by/account, tolerances: {amount: {type: PERCENTAGE, value: '0.01'}}}
";

#[test]
fn every_step_in_order() {
    let scene = Scene::new(&[("ledger.csv", LEDGER), ("bank.csv", BANK)]);
    let (told, outcome) = scene.carry_out(STAGED, &[]);
    insta::assert_snapshot!(scene.shown(&told), @r#"
    run.extraction.started {"extraction_index":0,"connection_type":"file","source_name":"ledger"}
    run.extraction.started {"extraction_index":1,"connection_type":"file","source_name":"bank"}
    run.comparison.started {"input_source_count":2}
    run.stage.started {"stage_name":"by-region"}
    run.rows_processed {"stage_name":"by-region","row_count":7,"mismatch_count":0}
    run.extraction.completed {"extraction_index":0,"rows_extracted":3}
    run.extraction.completed {"extraction_index":1,"rows_extracted":4}
    run.rows_processed {"stage_name":"by-region","row_count":7,"mismatch_count":0}
    run.stage.completed {"stage_name":"by-region","result":"MATCHED","tolerances":[{"measure_name":"amount","tolerance_type":"ABSOLUTE","tolerance_value":0.01,"within_tolerance_count":2,"outside_tolerance_count":0,"passed":true}]}
    run.stage.started {"stage_name":"by/account"}
    run.rows_processed {"stage_name":"by/account","row_count":7,"mismatch_count":0}
    run.rows_processed {"stage_name":"by/account","row_count":7,"mismatch_count":2}
    run.stage.completed {"stage_name":"by/account","result":"UNMATCHED","tolerances":[{"measure_name":"amount","tolerance_type":"PERCENTAGE","tolerance_value":0.01,"within_tolerance_count":2,"outside_tolerance_count":1,"passed":false}]}
    run.comparison.completed {"source_row_counts":{"bank":4,"ledger":3},"join_stats":{"matched_groups":3,"unmatched_by_source":{"bank":1,"ledger":0}},"tolerances":[{"measure_name":"amount","tolerance_type":"PERCENTAGE","tolerance_value":0.01,"within_tolerance_count":2,"outside_tolerance_count":1,"passed":false}],"result":"UNMATCHED","rows_compared":4,"rows_matched":2,"rows_unmatched":2}
    "#);
    let carried = outcome.unwrap();
    assert_eq!(carried.verdict, Verdict::Unmatched);
    let stages: Vec<(&str, u64)> =
        carried.stages.iter().map(|(name, found)| (name.as_str(), found.rows_unmatched)).collect();
    assert_eq!(stages, [("by-region", 0), ("by/account", 2)]);
    assert_eq!(scene.names_in("run"), ["by%2Faccount.parquet", "by-region.parquet"]);
    assert_eq!(scene.names_in("tmp"), [""; 0]);
}

#[test]
fn the_numbers_of_a_comparison_do_not_contradict_each_other() {
    for bank in [BANK, LEDGER] {
        for strategy in ["ALL", "PARALLEL", "DRILL_DOWN_ON_FAILURE"] {
            let scene = Scene::new(&[("ledger.csv", LEDGER), ("bank.csv", bank)]);
            let (told, outcome) = scene.carry_out(&format!("{STAGED}strategy: {strategy}\n"), &[]);
            // By region the bank matches, and nothing else counts for drilling down.
            let matched = bank == LEDGER || strategy == "DRILL_DOWN_ON_FAILURE";
            let expected = if matched { Verdict::Matched } else { Verdict::Unmatched };
            assert_eq!(outcome.unwrap().verdict, expected);
            let completed: Vec<_> = told
                .iter()
                .filter_map(|payload| match payload {
                    Payload::ComparisonCompleted(completed) => Some(completed),
                    _ => None,
                })
                .collect();
            assert_eq!(completed.len(), 1);
            assert_eq!((completed[0].check(), completed[0].result), (Ok(()), expected));
        }
    }
}

#[test]
fn rows_are_told_while_they_are_read_and_never_taken_back() {
    let rows = |first: &str| {
        let lines = (0..60_000).map(|id| format!("{id},{}\n", if id == 59_999 { first } else { "1" }));
        "id,amount\n".to_owned() + &lines.collect::<String>()
    };
    // A text at the end disproves that the column is a number, so that the comparison starts over.
    let (a, b) = (rows("x"), rows("y"));
    let mut scene = Scene::new(&[("a.csv", &a), ("b.csv", &b)]);
    scene.tick = Duration::ZERO;
    let (told, outcome) =
        scene.carry_out("{name: big, key: [id], sources: {a: {file: a.csv}, b: {file: b.csv}}}", &[]);
    assert_eq!(outcome.unwrap().verdict, Verdict::Unmatched);
    let counts: Vec<(u64, u64)> = told
        .iter()
        .filter_map(|payload| match payload {
            Payload::RowsProcessed(rows) => Some((rows.row_count, rows.mismatch_count)),
            _ => None,
        })
        .collect();
    assert!(counts.is_sorted(), "{counts:?}");
    assert_eq!(counts.last(), Some(&(120_000, 1)));
    let extracted: Vec<u64> = told
        .iter()
        .filter_map(|payload| match payload {
            Payload::ExtractionCompleted(completed) => Some(completed.rows_extracted),
            _ => None,
        })
        .collect();
    assert_eq!(extracted, [60_000, 60_000]);
}

/// A store that sends the end of an object only when it was told that the beginning came.
#[test]
fn what_comes_of_a_store_is_told_while_it_is_fetched() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/bank.csv", listener.local_addr().unwrap());
    let (go_on, wait) = channel();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let asked = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
        assert!(asked.take_while(|line| !line.is_empty()).count() > 0);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nid,n\n").unwrap();
        let () = wait.recv().unwrap();
        stream.write_all(b"1,x\n\n").unwrap();
    });
    let mut scene = Scene::new(&[("ledger.csv", "id,n\n1,x\n")]);
    scene.tick = Duration::ZERO;
    let job =
        format!("{{name: a, key: [id], sources: {{ledger: {{file: ledger.csv}}, bank: {{file: '{url}'}}}}}}");
    let mut told = Vec::new();
    let outcome = scene.watch(&job, &[], &mut |payload, _| {
        if let Payload::RowsProcessed(RowsProcessed { reading: Some(reading), .. }) = payload {
            told.push(reading);
            // It may be told of the beginning more than once.
            if told.len() == 1 {
                go_on.send(()).unwrap();
            }
        }
    });
    assert_eq!(outcome.unwrap().verdict, Verdict::Matched);
    server.join().unwrap();
    let (bytes_read, bytes_expected) = (Some(5), Some(10));
    assert_eq!(told[0], Reading { extraction_index: 1, rows_read: None, bytes_read, bytes_expected });
}

/// Rows are told as soon as a part of them is kept, and the last row is late.
#[test]
fn what_comes_of_a_database_is_told_while_it_is_read() {
    let server = Postgres::shared();
    let mut scene = Scene::new(&[("ledger.csv", "id\n1\n")]);
    scene.tick = Duration::ZERO;
    scene.variables.insert("URL", server.database().unwrap());
    let job = "
name: a
key: [id]
connections: {erp: {type: postgres, url: '${env:URL}'}}
sources:
  erp: {connection: erp, query: \"select i as id, repeat('x', 900) as n, pg_sleep(case when i = 4000 then 1 else 0 end)::text as s from generate_series(1, 4000) i\"}
  ledger: {file: ledger.csv}
";
    let (told, _) = scene.carry_out(job, &[]);
    let rows = told.iter().find_map(|payload| match payload {
        Payload::RowsProcessed(RowsProcessed { reading: Some(reading), .. }) => reading.rows_read,
        _ => None,
    });
    assert!(rows.is_some_and(|rows| rows > 0 && rows < 4000), "{rows:?}");
}
