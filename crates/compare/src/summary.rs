//! Puts what was counted together into a report.

use crate::census::Census;
use crate::decide::show_difference;
use crate::ingest::Ingested;
use crate::join::Tally;
use crate::kind::Kind;
use crate::number::{Decimal, Quantity};
use crate::plan::{Fit, Measure, Plan};
use crate::report::{Break, Comparison, KeyReport, MeasureReport, TypeDrift, Verdict};
use crate::spec::{Aggregate, Allow, Rule, Source};
use crate::totals::Totals;

/// The report of a comparison.
pub(crate) fn summary(
    sources: &[Source<'_>],
    plan: &Plan,
    ingested: &Ingested,
    census: &Census,
    tally: &Tally,
    breaks: Vec<Break>,
) -> Comparison {
    let matched_groups = tally.matched + tally.outside_groups;
    let measures = (plan.measures.iter().enumerate())
        .map(|(index, measure)| measure_report(plan, ingested, tally, index, measure, matched_groups))
        .collect::<Vec<_>>();
    let fine = tally.unmatched_groups == 0
        && plan.findings.is_empty()
        && measures.iter().all(|measure| measure.passed);
    let all_rows = ingested.rows.iter().sum();
    Comparison {
        sources: sources.iter().map(|source| source.name.clone()).collect(),
        key: plan.key.iter().map(|part| plan.columns[*part].name.clone()).collect(),
        verdict: if fine { Verdict::Matched } else { Verdict::Unmatched },
        source_row_counts: ingested.rows.clone(),
        matched_groups,
        unmatched_by_source: tally.unmatched_by_source.clone(),
        rows_compared: matched_groups + tally.unmatched_groups,
        rows_matched: tally.matched,
        rows_unmatched: tally.outside_groups + tally.unmatched_groups,
        measures,
        key_report: (0..sources.len())
            .map(|source| KeyReport {
                rows: ingested.rows[source],
                distinct_keys: tally.distinct_keys[source],
                duplicated_keys: tally.duplicated_keys[source],
                null_keys: ingested.null_keys[source],
                type_drift: type_drift(plan, source),
            })
            .collect(),
        columns: plan.reports.clone(),
        findings: plan.findings.clone(),
        concentration: census.concentration(plan, all_rows, tally.broken_rows),
        breaks,
    }
}

fn type_drift(plan: &Plan, source: usize) -> Vec<TypeDrift> {
    let drift = |part: &usize| {
        let column = &plan.columns[*part];
        Some(TypeDrift { column: column.name.clone(), kind: column.drifted_kind(source)? })
    };
    plan.key.iter().filter_map(drift).collect()
}

fn measure_report(
    plan: &Plan,
    ingested: &Ingested,
    tally: &Tally,
    index: usize,
    measure: &Measure,
    matched_groups: u64,
) -> MeasureReport {
    let outside = tally.outside[index];
    let is_few = match &measure.allow {
        Allow::None => outside == 0,
        Allow::Count(count) => outside <= *count,
        Allow::Percent(share) => {
            let allowed = Quantity::from(Decimal::from(matched_groups)).times(*share);
            let found = Quantity::from(Decimal::from(outside)).times(Decimal::from(100_u64));
            found.zip(allowed).is_some_and(|(found, allowed)| found <= allowed)
        }
    };
    let kind = measure.column.map_or(Kind::Number, |column| plan.columns[column].kind);
    let largest = tally.largest[index].difference().filter(|_| outside > 0);
    let sums = matches!(measure.aggregate, Aggregate::Value | Aggregate::Sum | Aggregate::Avg);
    let summed =
        measure.column.filter(|column| sums && ingested.totals.iter().any(|totals| totals.sums(*column)));
    let totals = summed.map(|column| {
        let total = |of_source: &Totals| of_source.total(column).map(|total| total.to_string());
        ingested.totals.iter().map(total).collect()
    });
    MeasureReport {
        name: measure.name.clone(),
        tolerance_type: measure.asked.type_name(),
        tolerance_value: (measure.asked != Rule::Exact).then(|| measure.asked.to_string()),
        within: matched_groups - outside,
        outside,
        passed: is_few && measure.fit == Fit::Whole,
        largest_difference: largest.and_then(|it| show_difference(measure, kind, &it, false)),
        totals,
    }
}
