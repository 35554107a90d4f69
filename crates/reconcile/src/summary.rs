//! What a comparison found, as events tell it.

use std::collections::BTreeMap;

use trueup_compare::{Comparison, Finding, MeasureReport};
use trueup_events::comparison::{Completed, JoinStats, Leeway, Tolerance};
use trueup_events::outcome::Verdict;

/// The verdict under its name in events.
pub(crate) fn verdict(comparison: &Comparison) -> Verdict {
    match comparison.verdict {
        trueup_compare::Verdict::Matched => Verdict::Matched,
        trueup_compare::Verdict::Unmatched => Verdict::Unmatched,
    }
}

/// The numbers of a comparison, with the findings and the verdict of the run that it is the last of.
pub(crate) fn completed(comparison: &Comparison, findings: Vec<String>, result: Verdict) -> Completed {
    let by_source = |counts: &[u64]| -> BTreeMap<String, u64> {
        comparison.sources.iter().cloned().zip(counts.iter().copied()).collect()
    };
    Completed {
        source_row_counts: by_source(&comparison.source_row_counts),
        join_stats: JoinStats {
            matched_groups: comparison.matched_groups,
            unmatched_by_source: by_source(&comparison.unmatched_by_source),
        },
        tolerances: tolerances(comparison),
        result,
        rows_compared: comparison.rows_compared,
        rows_matched: comparison.rows_matched,
        rows_unmatched: comparison.rows_unmatched,
        findings,
    }
}

/// What is wrong beside the numbers: what all stages have in common, then the rest with the name of its stage.
pub(crate) fn findings(stages: &[(String, Comparison)]) -> Vec<String> {
    let is_common =
        |finding: &Finding| stages.iter().all(|(_, comparison)| comparison.findings.contains(finding));
    let first = stages.iter().take(1).flat_map(|(_, comparison)| &comparison.findings);
    let common = first.filter(|finding| is_common(finding)).map(Finding::to_string);
    let own = stages.iter().flat_map(|(stage, comparison)| {
        let own = comparison.findings.iter().filter(|finding| !is_common(finding));
        own.map(move |finding| format!("{stage}: {finding}"))
    });
    common.chain(own).collect()
}

/// How each measure fared.
pub(crate) fn tolerances(comparison: &Comparison) -> Vec<Tolerance> {
    comparison.measures.iter().map(tolerance).collect()
}

fn tolerance(measure: &MeasureReport) -> Tolerance {
    let leeway = |value: &str| {
        let number = serde_json::from_str(value.trim_end_matches('%'));
        number.map_or_else(|_| Leeway::Duration(value.to_owned()), Leeway::Number)
    };
    Tolerance {
        measure_name: measure.name.clone(),
        tolerance_type: measure.tolerance_type.name().to_owned(),
        tolerance_value: measure.tolerance_value.as_deref().map(leeway),
        within_tolerance_count: measure.within,
        outside_tolerance_count: measure.outside,
        passed: measure.passed,
    }
}
