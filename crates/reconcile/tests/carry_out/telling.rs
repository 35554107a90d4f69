//! What is told, in order.

use std::time::Duration;

use trueup_events::Payload;
use trueup_events::outcome::Verdict;

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
