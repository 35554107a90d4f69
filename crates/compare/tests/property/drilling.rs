//! From coarse to fine, each stage within the groups that the one before found unmatched, against the oracle.

use std::collections::BTreeSet;

use trueup_compare::{Break, BreakHeader, BreakSink, Comparison, Selection, Spec, compare_within};

use crate::agreement;
use crate::oracle::{self, Row};
use crate::tables::random::Random;
use crate::tables::{Case, case};
use crate::way::{MEGABYTE, PLAIN, Way, with_sources};

const WAYS: [Way; 3] = [
    PLAIN,
    Way { threads: 2, shuffled: true, largest_batch: 5, ..PLAIN },
    Way { threads: 2, largest_batch: 1_000, memory: MEGABYTE, ..PLAIN },
];

/// One stage for each number of dimensions.
fn stages(spec: &Spec) -> Vec<Spec> {
    let of = |parts: usize| Spec {
        key: spec.key[..parts].to_vec(),
        duplicates: None,
        verify: false,
        ..spec.clone()
    };
    (1..=spec.key.len()).map(of).collect()
}

/// What each stage finds, with all its breaks.
fn drill_down(case: &Case, stages: &[Spec], way: &Way, random: &mut Random) -> Vec<(Comparison, Vec<Break>)> {
    let found = with_sources(case, way, random, |sources, limits, progress| {
        let mut within: Option<Vec<Selection>> = None;
        let mut found = Vec::new();
        for spec in stages {
            let mut breaks = Vec::new();
            let mut keep = |_: &BreakHeader, found: &Break| {
                breaks.push(found.clone());
                Ok(())
            };
            let sink = Some(BreakSink::Each(&mut keep));
            let (comparison, unmatched) =
                compare_within(sources, within.as_deref(), spec, limits, progress, sink)?;
            let looked_at: u64 = (0..sources.len()).map(|source| progress.rows(source)).sum();
            assert_eq!(looked_at, comparison.source_row_counts.iter().sum::<u64>());
            found.push((comparison, breaks));
            within = Some(unmatched);
        }
        Ok(found)
    });
    found.unwrap_or_else(|error| panic!("{error}"))
}

/// Holds every stage against the oracle, which sees only the rows that are left.
fn check(case: &Case, way: &Way, random: &mut Random) -> Result<(), String> {
    let mut rows: Vec<Vec<Row>> = case.sources.iter().map(|sheet| sheet.rows.clone()).collect();
    let stages = stages(&case.spec);
    for (spec, (comparison, breaks)) in stages.iter().zip(drill_down(case, &stages, way, random)) {
        let at = |wrong| format!("by {:?}, {way:?}: {wrong}", spec.key);
        let answer = oracle::compare(&case.columns, &rows, spec).expect("keys may repeat");
        agreement::identities(&comparison, &breaks).map_err(at)?;
        agreement::with(&answer, &comparison, &breaks, case).map_err(at)?;
        let unmatched: BTreeSet<&Row> = answer.breaks.iter().map(|group| &group.key).collect();
        let is_left = |row: &Row| unmatched.contains(&oracle::key(row, &case.columns, spec));
        rows.iter_mut().for_each(|rows| rows.retain(is_left));
    }
    Ok(())
}

#[test]
fn each_stage_sees_the_unmatched_groups_of_the_one_before() {
    let mut drilled = [[0; 2]; 2];
    for seed in 0..400 {
        let case = case(seed, 60);
        let (by_row, parts) = (case.spec.measures.is_empty(), case.spec.key.len());
        if parts < 2 {
            continue;
        }
        drilled[usize::from(by_row)][parts - 2] += 1;
        for way in &WAYS {
            assert_eq!(check(&case, way, &mut Random::new(seed)), Ok(()), "seed {seed}");
        }
    }
    assert!(drilled.iter().flatten().all(|cases| *cases > 10), "{drilled:?}");
}
