//! Drilling down: each stage only into what the one before found unmatched, until one matches.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use proptest::prelude::*;
use trueup_events::outcome::Verdict;
use trueup_reconcile::Carried;

use crate::scene::Scene;

const JOB: &str = "
name: revenue
sources:
  ledger: {file: ledger.csv, filter: &kept \"status <> 'void'\"}
  bank: {file: bank.csv, filter: *kept}
  tax: {file: tax.csv, filter: *kept}
dimensions: [region, account, payment]
measures: [{name: amount, aggregate: sum}]
strategy: DRILL_DOWN_ON_FAILURE
stages:
";

const SOURCES: [&str; 3] = ["ledger", "bank", "tax"];
const DIMENSIONS: [&str; 3] = ["region", "account", "payment"];

/// What is told apart of a row: its dimensions, and cents.
type Row = ([u8; 3], i64);

/// How far sums of a stage may be apart, in cents, and how many groups may be outside that.
type Leeway = (i64, usize);

/// What a stage looked at and found.
#[derive(Debug, Clone, PartialEq)]
struct Stage {
    rows: Vec<u64>,
    verdict: Verdict,
    unmatched: BTreeSet<Vec<u8>>,
}

/// Groups rows by hand.
fn by_hand(sources: &[Vec<Row>], leeways: &[Leeway]) -> Vec<Stage> {
    let mut left: Vec<Vec<Row>> = sources.to_vec();
    let mut stages: Vec<Stage> = Vec::new();
    for (depth, (most, allowed)) in (1..).zip(leeways) {
        let mut groups: BTreeMap<Vec<u8>, Vec<Option<i64>>> = BTreeMap::new();
        for (source, rows) in left.iter().enumerate() {
            for (key, cents) in rows {
                let sums = groups.entry(key[..depth].to_vec()).or_insert_with(|| vec![None; sources.len()]);
                *sums[source].get_or_insert(0) += cents;
            }
        }
        let is_absent = |sums: &Vec<Option<i64>>| sums.contains(&None);
        let is_outside = |sums: &Vec<Option<i64>>| {
            let spread = sums.iter().flatten().max().unwrap() - sums.iter().flatten().min().unwrap();
            !is_absent(sums) && spread > *most
        };
        let outside = groups.values().filter(|sums| is_outside(sums)).count();
        let matched = !groups.values().any(is_absent) && outside <= *allowed;
        let verdict = if matched { Verdict::Matched } else { Verdict::Unmatched };
        let rows = left.iter().map(|rows| rows.len() as u64).collect();
        groups.retain(|_, sums| is_absent(sums) || is_outside(sums));
        let unmatched: BTreeSet<Vec<u8>> = groups.into_keys().collect();
        left.iter_mut().for_each(|rows| rows.retain(|(key, _)| unmatched.contains(&key[..depth])));
        stages.push(Stage { rows, verdict, unmatched });
        if matched {
            break;
        }
    }
    stages
}

/// The same by a job, whose files also have rows that its filter leaves out.
fn by_job(sources: &[Vec<Row>], leeways: &[Leeway], memory: u64, threads: usize) -> (Verdict, Vec<Stage>) {
    let mut job = JOB.to_owned();
    for (depth, (cents, allow)) in (1..).zip(leeways) {
        let (dimensions, value) = (DIMENSIONS[..depth].join(", "), format!("0.{cents:02}"));
        writeln!(job, "  - name: stage-{depth}\n    dimensions: [{dimensions}]").unwrap();
        writeln!(job, "    tolerances: {{amount: {{type: ABSOLUTE, value: '{value}', allow: {allow}}}}}")
            .unwrap();
    }
    let file = |rows: &Vec<Row>| {
        let line = |([region, account, payment], cents): &Row| {
            // A payment of the last region proves for all of them that they are no numbers.
            let mark = if *region == 9 { "0" } else { "" };
            let row =
                |cents: i64, status| format!("{region},{account},{mark}{payment},{cents}e-2,{status}\n");
            let left_out = if cents % 2 == 0 { String::new() } else { row(cents * 1000, "void") };
            left_out + &row(*cents, "booked")
        };
        "region,account,payment,amount,status\n".to_owned() + &rows.iter().map(line).collect::<String>()
    };
    let files: Vec<(String, String)> =
        SOURCES.iter().zip(sources).map(|(name, rows)| (format!("{name}.csv"), file(rows))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let scene = Scene::new(&files).within(memory, threads);
    let Carried { verdict, stages } = scene.carry_out(&job, &[]).1.unwrap();
    assert_eq!(scene.names_in("run").len(), stages.len(), "a stage that is not reached has no breaks");
    let found = stages.iter().enumerate().map(|(at, (name, found))| {
        assert_eq!(*name, format!("stage-{}", at + 1));
        let part = |part: &Option<String>| part.as_deref().unwrap().parse().unwrap();
        Stage {
            rows: found.source_row_counts.clone(),
            verdict: match found.verdict {
                trueup_compare::Verdict::Matched => Verdict::Matched,
                trueup_compare::Verdict::Unmatched => Verdict::Unmatched,
            },
            unmatched: found.breaks.iter().map(|found| found.key.iter().map(part).collect()).collect(),
        }
    });
    (verdict, found.collect())
}

fn sources() -> impl Strategy<Value = Vec<Vec<Row>>> {
    let rows = prop::collection::vec(((0_u8..3, 0_u8..3, 0_u8..4), 1_i64..500), 1..60);
    let change = (any::<prop::sample::Index>(), -3_i64..4, any::<bool>());
    let changes = || prop::collection::vec(change.clone(), 0..4);
    (rows, [changes(), changes(), changes()], any::<bool>()).prop_map(|(rows, changes, reversed)| {
        let mut rows: Vec<Row> = rows.into_iter().map(|((a, b, c), cents)| ([a, b, c], cents)).collect();
        rows.push(([9, 9, 9], 1));
        let changed = |changes: Vec<(prop::sample::Index, i64, bool)>| {
            let mut own = rows.clone();
            for (index, cents, absent) in changes {
                let at = index.index(own.len().max(2) - 1);
                if absent && at < own.len() {
                    own.remove(at);
                } else if let Some((_, amount)) = own.get_mut(at) {
                    *amount += cents;
                }
            }
            own
        };
        let mut sources: Vec<Vec<Row>> = changes.into_iter().map(changed).collect();
        if reversed {
            sources[1].reverse();
        }
        sources
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn stages_find_what_groups_by_hand_are(
        sources in sources(),
        leeways in prop::collection::vec((0_i64..4, 0_usize..2), 1..=3),
        threads in 1_usize..3,
    ) {
        let expected = by_hand(&sources, &leeways);
        let (verdict, found) = by_job(&sources, &leeways, 1 << 20, threads);
        prop_assert_eq!(verdict, expected[0].verdict);
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn more_rows_than_fit_into_memory() {
    let row = |number: i64| {
        let part = |step: i64, of: i64| u8::try_from(number / step % of).unwrap();
        ([part(1, 5), part(5, 8), part(40, 100)], number % 977)
    };
    let rows: Vec<Row> = (0..60_000).map(row).collect();
    let changed = |step: usize| {
        let change = |(at, (key, cents)): (usize, &Row)| (*key, cents + i64::from(at % step == 3));
        rows.iter().enumerate().map(change).collect::<Vec<Row>>()
    };
    let sources = [rows.clone(), changed(10_000), changed(20_000)];
    let leeways = [(0, 0), (0, 0), (0, 0)];
    let expected = by_hand(&sources, &leeways);
    assert!(expected.len() == 3 && expected[2].rows.iter().all(|rows| (1..60_000).contains(rows)));
    for threads in [1, 2] {
        assert_eq!(by_job(&sources, &leeways, 1 << 20, threads), (Verdict::Unmatched, expected.clone()));
    }
}

const LEDGER: &str = "region,account,amount,note\nN,1,10.00,x\nN,2,20.00,x\nS,1,5.00,x\n";

#[test]
fn what_is_told() {
    let job = "
name: daily
sources: {ledger: {file: ledger.csv}, bank: {file: bank.csv}}
dimensions: [region, account]
measures: [{name: amount, aggregate: sum}]
stages:
  - {name: by-region, dimensions: [region]}
  - {name: by-account, tolerances: {amount: '0.02'}}
strategy: DRILL_DOWN_ON_FAILURE
";
    let bank = "region,account,amount\nS,1,5.00\nN,2,20.02\nN,1,10.01\n";
    let scene = Scene::new(&[("ledger.csv", LEDGER), ("bank.csv", bank)]);
    let (told, outcome) = scene.carry_out(job, &[]);
    assert_eq!(outcome.unwrap().verdict, Verdict::Unmatched);
    insta::assert_snapshot!(scene.shown(&told), @r#"
    run.extraction.started {"extraction_index":0,"connection_type":"file","source_name":"ledger"}
    run.extraction.started {"extraction_index":1,"connection_type":"file","source_name":"bank"}
    run.comparison.started {"input_source_count":2}
    run.stage.started {"stage_name":"by-region"}
    run.rows_processed {"stage_name":"by-region","row_count":6,"mismatch_count":0}
    run.extraction.completed {"extraction_index":0,"rows_extracted":3}
    run.extraction.completed {"extraction_index":1,"rows_extracted":3}
    run.rows_processed {"stage_name":"by-region","row_count":6,"mismatch_count":1}
    run.stage.completed {"stage_name":"by-region","result":"UNMATCHED","tolerances":[{"measure_name":"amount","tolerance_type":"EXACT","within_tolerance_count":1,"outside_tolerance_count":1,"passed":false}]}
    run.stage.started {"stage_name":"by-account"}
    run.rows_processed {"stage_name":"by-account","row_count":4,"mismatch_count":0}
    run.rows_processed {"stage_name":"by-account","row_count":4,"mismatch_count":0}
    run.stage.completed {"stage_name":"by-account","result":"MATCHED","tolerances":[{"measure_name":"amount","tolerance_type":"ABSOLUTE","tolerance_value":0.02,"within_tolerance_count":2,"outside_tolerance_count":0,"passed":true}]}
    run.comparison.completed {"source_row_counts":{"bank":3,"ledger":3},"join_stats":{"matched_groups":2,"unmatched_by_source":{"bank":0,"ledger":0}},"tolerances":[{"measure_name":"amount","tolerance_type":"EXACT","within_tolerance_count":1,"outside_tolerance_count":1,"passed":false}],"result":"UNMATCHED","rows_compared":2,"rows_matched":1,"rows_unmatched":1}
    "#);
    let scene = Scene::new(&[("ledger.csv", LEDGER), ("bank.csv", LEDGER)]);
    let (told, outcome) = scene.carry_out(job, &[]);
    assert_eq!(outcome.unwrap().verdict, Verdict::Matched);
    assert!(!scene.shown(&told).contains("by-account"), "the second stage is not reached");
}

#[test]
fn a_finding_alone_leaves_nothing_to_look_into() {
    let job = "
name: daily
sources: {ledger: {file: ledger.csv}, bank: {file: bank.csv}}
dimensions: [region, account]
measures: [{name: amount, aggregate: sum}, {name: notes, aggregate: count, column: note}]
stages: [{name: by-region, dimensions: [region]}, {name: by-account}]
strategy: DRILL_DOWN_ON_FAILURE
";
    let bank = "region,account,amount\nN,1,10.00\nN,2,20.00\nS,1,5.00\n";
    let scene = Scene::new(&[("ledger.csv", LEDGER), ("bank.csv", bank)]);
    let carried = scene.carry_out(job, &[]).1.unwrap();
    assert_eq!((carried.verdict, carried.stages.len()), (Verdict::Unmatched, 1));
    assert_eq!(
        carried.stages[0].1.findings[0].to_string(),
        "note: missing in bank: notes cannot be computed"
    );
}

#[test]
fn rows_are_drilled_into_by_key() {
    let job = "
name: daily
sources: {ledger: {file: ledger.csv}, bank: {file: bank.csv}}
dimensions: [region, account]
measures: [{name: amount, aggregate: value}]
stages: [{name: by-region, dimensions: [region]}, {name: by-account}]
strategy: DRILL_DOWN_ON_FAILURE
";
    let bank = "region,account,amount\nS,1,5.00\nN,2,20.02\nN,1,10.00\n";
    let scene = Scene::new(&[("ledger.csv", LEDGER), ("bank.csv", bank)]);
    let Carried { stages, .. } = scene.carry_out(job, &[]).1.unwrap();
    let found = |at: usize| {
        let comparison = &stages[at].1;
        let keys = comparison.breaks.iter().map(|found| found.key.iter().flatten().cloned().collect());
        (comparison.source_row_counts.clone(), keys.collect::<Vec<Vec<String>>>())
    };
    assert_eq!(found(0), (vec![3, 3], vec![vec!["N".to_owned()]]));
    assert_eq!(found(1), (vec![2, 2], vec![vec!["N".to_owned(), "2".to_owned()]]));
}
