//! What always holds of the numbers of a comparison.

use std::collections::BTreeMap;

use proptest::prelude::*;
use trueup_events::EventType;
use trueup_events::comparison::{Completed, Contradiction, JoinStats, Tolerance};
use trueup_events::outcome::Verdict;

use crate::payloads::{parts, samples};

/// A group: which sources have it, and which of the measures are outside.
type Group = (Vec<bool>, Vec<bool>);

/// Counts groups in the plainest way there is.
fn count(sources: usize, measures: usize, groups: &[Group]) -> Completed {
    let name = |source: usize| format!("source_{source}");
    let present: Vec<_> = groups.iter().filter(|(has, _)| has.contains(&true)).collect();
    let (joined, left): (Vec<&Group>, Vec<&Group>) =
        present.iter().copied().partition(|(has, _)| !has.contains(&false));
    let of = |source: usize, groups: &[&Group]| groups.iter().filter(|(has, _)| has[source]).count() as u64;
    let tolerances: Vec<_> = (0..measures)
        .map(|measure| {
            let outside = joined.iter().filter(|(_, outside)| outside[measure]).count() as u64;
            Tolerance {
                measure_name: format!("m{measure}"),
                tolerance_type: "EXACT".to_owned(),
                tolerance_value: None,
                within_tolerance_count: joined.len() as u64 - outside,
                outside_tolerance_count: outside,
                passed: outside == 0,
            }
        })
        .collect();
    let rows_matched = joined.iter().filter(|(_, outside)| !outside.contains(&true)).count() as u64;
    let passed = left.is_empty() && tolerances.iter().all(|tolerance| tolerance.passed);
    Completed {
        source_row_counts: (0..sources).map(|source| (name(source), of(source, &present))).collect(),
        join_stats: JoinStats {
            matched_groups: joined.len() as u64,
            unmatched_by_source: (0..sources).map(|source| (name(source), of(source, &left))).collect(),
        },
        tolerances,
        result: if passed { Verdict::Matched } else { Verdict::Unmatched },
        rows_compared: present.len() as u64,
        rows_matched,
        rows_unmatched: present.len() as u64 - rows_matched,
        findings: Vec::new(),
    }
}

fn comparisons() -> impl Strategy<Value = Completed> {
    (2..5_usize, 0..4_usize).prop_flat_map(|(sources, measures)| {
        let group = (
            prop::collection::vec(prop::bool::weighted(0.9), sources),
            prop::collection::vec(prop::bool::weighted(0.1), measures),
        );
        prop::collection::vec(group, 0..40).prop_map(move |groups| count(sources, measures, &groups))
    })
}

proptest! {
    #[test]
    fn counted_numbers_hold(completed in comparisons()) {
        prop_assert_eq!(completed.check(), Ok(()));
    }

    #[test]
    fn a_number_that_is_off_contradicts(completed in comparisons(), by in 1..9_u64) {
        let two_sources = completed.join_stats.unmatched_by_source.len() == 2;
        let mut unmatched = completed.clone();
        unmatched.rows_unmatched += by;
        prop_assert!(unmatched.check().is_err());
        let mut matched = completed.clone();
        matched.rows_matched += by;
        prop_assert!(matched.check().is_err());
        let mut compared = completed.clone();
        compared.rows_compared += by;
        prop_assert!(compared.check().is_err());
        if two_sources {
            let mut groups = completed.clone();
            groups.join_stats.matched_groups += by;
            prop_assert!(groups.check().is_err());
        }
        // What is in none of the numbers makes any comparison UNMATCHED; nothing makes it MATCHED.
        let unmatched = Completed { result: Verdict::Unmatched, ..completed.clone() };
        prop_assert_eq!(unmatched.check(), Ok(()));
        if completed.result == Verdict::Unmatched {
            let matched = Completed { result: Verdict::Matched, ..completed };
            prop_assert_eq!(matched.check(), Err(Contradiction::Verdict));
        }
    }
}

#[test]
fn the_samples_hold() {
    for sample in samples().iter().filter(|one| parts(one).0 == EventType::ComparisonCompleted) {
        let completed: Completed = serde_json::from_value(parts(sample).1.clone()).unwrap();
        assert_eq!(completed.check(), Ok(()));
    }
}

#[test]
fn each_contradiction_is_named() {
    let base = count(2, 1, &[(vec![true, true], vec![false]), (vec![true, false], vec![false])]);
    let three = count(3, 0, &[(vec![true, true, false], vec![])]);
    let matched = count(2, 0, &[(vec![true, true], vec![])]);
    let table: [(_, fn(&mut Completed), _); 8] = [
        (&base, |c| c.rows_compared = 3, "rows_compared is 3, but the groups joined and left over are 2"),
        (&three, |c| c.rows_compared = 3, "rows_compared is 3, but must be from 1 to 2"),
        (
            &base,
            |c| c.tolerances[0].within_tolerance_count = 2,
            "measure m0: within and outside are 2 groups, but 1 joined",
        ),
        (&base, |c| c.rows_matched = 0, "rows_matched is 0, but must be from 1 to 1"),
        (&base, |c| c.rows_unmatched = 0, "rows_unmatched is 0, but 1 of rows_compared are not matched"),
        (
            &base,
            |c| c.result = Verdict::Matched,
            "result is MATCHED, but a group is left over, a tolerance did not pass or there is a finding",
        ),
        (
            &matched,
            |c| c.findings.push("memo: missing in bank".to_owned()),
            "result is MATCHED, but a group is left over, a tolerance did not pass or there is a finding",
        ),
        (
            &base,
            |c| c.join_stats.unmatched_by_source = BTreeMap::from([("a".to_owned(), u64::MAX)]),
            "the groups add up to more than 64 bits hold",
        ),
    ];
    for (completed, tear, problem) in table {
        let mut torn = completed.clone();
        tear(&mut torn);
        assert_eq!(torn.check().unwrap_err().to_string(), problem);
    }
}
