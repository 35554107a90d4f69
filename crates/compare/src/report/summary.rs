//! Puts what was counted together into a report.

use crate::finish::decide::{MOST_PAIRED, show_difference};
use crate::ingest::Ingested;
use crate::ingest::totals::Totals;
use crate::join::Tally;
use crate::kind::Kind;
use crate::number::{Decimal, Number, Quantity};
use crate::plan::{Fit, Measure, Plan};
use crate::report::census::Census;
use crate::report::{Break, Comparison, KeyReport, MeasureReport, TypeDrift, Verdict};
use crate::spec::{Aggregate, Allow, LeftOut, Rule, Source};
use crate::sum::{DecimalSum, Overflow};

/// The report of a comparison.
pub(crate) fn summary(
    sources: &[Source<'_>],
    plan: &Plan,
    ingested: &Ingested,
    census: &Census,
    tally: &Tally,
    breaks: Vec<Break>,
) -> Comparison {
    let left_out = plan.left_out.rows;
    let matched_groups = tally.matched + tally.outside_groups + left_out;
    let measures = (plan.measures.iter().enumerate())
        .map(|(index, measure)| measure_report(plan, ingested, tally, index, measure, matched_groups))
        .collect::<Vec<_>>();
    let mut concentration = census.concentration(plan, ingested.rows.iter().sum(), tally.broken_rows);
    if left_out > 0 {
        concentration.clear();
    }
    let fine = tally.unmatched_groups == 0
        && plan.findings.is_empty()
        && measures.iter().all(|measure| measure.passed);
    Comparison {
        sources: sources.iter().map(|source| source.name.clone()).collect(),
        key: plan.key.iter().map(|part| plan.columns[*part].name.clone()).collect(),
        verdict: if fine { Verdict::Matched } else { Verdict::Unmatched },
        source_row_counts: ingested.rows.iter().map(|rows| rows + left_out).collect(),
        matched_groups,
        unmatched_by_source: tally.unmatched_by_source.clone(),
        rows_compared: matched_groups + tally.unmatched_groups,
        rows_matched: tally.matched + left_out,
        rows_unmatched: tally.outside_groups + tally.unmatched_groups,
        measures,
        key_report: (0..sources.len())
            .map(|source| KeyReport {
                rows: ingested.rows[source] + left_out,
                distinct_keys: tally.distinct_keys[source] + left_out,
                duplicated_keys: tally.duplicated_keys[source],
                null_keys: ingested.null_keys[source],
                type_drift: type_drift(plan, source),
            })
            .collect(),
        columns: plan.reports.clone(),
        findings: plan.findings.clone(),
        notes: plan
            .notes
            .iter()
            .cloned()
            .chain(notes_on_left_out(plan))
            .chain(note_on_pairs(tally))
            .collect(),
        concentration,
        breaks,
    }
}

/// What is not known of rows that were not read.
fn notes_on_left_out(plan: &Plan) -> Vec<String> {
    let LeftOut { rows, totals } = &plan.left_out;
    if *rows == 0 {
        return Vec::new();
    }
    let is_lacking = |name: &&str| !totals.contains_key(*name);
    let numbers = plan.measures.iter().filter_map(|measure| measure.column);
    let numbers = numbers.map(|column| &plan.columns[column]).filter(|column| column.kind == Kind::Number);
    let lacking = numbers.map(|column| column.name.as_str()).filter(is_lacking);
    let of_rows = format!(
        "{rows} rows of each source were not read, since they are known to be the same: the key report counts their keys as distinct and not NULL, and where breaks concentrate is not told"
    );
    let of_total =
        |name| format!("{name} has no control total: it takes all values, or an exact sum of those not read");
    [of_rows].into_iter().chain(lacking.map(of_total)).collect()
}

/// What is to be known of the pairs.
fn note_on_pairs(tally: &Tally) -> Option<String> {
    let keys = match tally.paired_in_order {
        0 => return None,
        1 => "1 key has".to_owned(),
        keys => format!("{keys} keys have"),
    };
    Some(format!(
        "{keys} more than {MOST_PAIRED} unequal rows in a source: these are paired in the order of their values, not so that the fewest columns are outside"
    ))
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
    MeasureReport {
        name: measure.name.clone(),
        tolerance_type: measure.asked.rule_type(),
        tolerance_value: (measure.asked != Rule::Exact).then(|| measure.asked.to_string()),
        within: matched_groups - outside,
        outside,
        passed: is_few && measure.fit == Fit::Whole,
        largest_difference: largest_difference(plan, tally, index, measure, outside < matched_groups),
        totals: totals(plan, ingested, measure),
    }
}

/// The largest difference found; of values that never differ but are within it is zero, where they have one.
fn largest_difference(
    plan: &Plan,
    tally: &Tally,
    index: usize,
    measure: &Measure,
    any_within: bool,
) -> Option<String> {
    let counts = matches!(measure.aggregate, Aggregate::Count | Aggregate::CountDistinct);
    let kind = measure.column.filter(|_| !counts).map_or(Kind::Number, |column| plan.columns[column].kind);
    let is_distance = (kind == Kind::Number || kind.is_temporal()) && measure.fit != Fit::Uncomputed;
    let zero = (is_distance && any_within).then_some(Quantity::Number(Number::ZERO));
    let largest = tally.largest[index].difference().or(zero)?;
    show_difference(measure, kind, &largest, false)
}

/// The control totals of a measure that adds up over all rows.
fn totals(plan: &Plan, ingested: &Ingested, measure: &Measure) -> Option<Vec<Option<String>>> {
    let sources = || ingested.totals.iter().zip(&ingested.rows);
    let is_whole = plan.left_out.rows == 0;
    match (measure.aggregate, measure.column) {
        _ if measure.fit == Fit::Uncomputed => None,
        (Aggregate::Count, column) if is_whole => {
            let count = |(totals, rows): (&Totals, &u64)| column.map_or(*rows, |it| totals.present(it));
            Some(sources().map(|source| Some(count(source).to_string())).collect())
        }
        (Aggregate::Value | Aggregate::Sum | Aggregate::Avg, Some(column))
            if ingested.totals.iter().any(|totals| totals.sums(column)) =>
        {
            let left_out = plan.left_out.totals.get(&plan.columns[column].name);
            let left_out = left_out.map(Vec::as_slice).or(is_whole.then_some(&[]))?;
            let shown = |total: Result<Number, Overflow>| {
                total.map_or_else(|overflow| overflow.to_string(), |total| total.to_string())
            };
            Some(sources().map(|(totals, _)| added(totals.total(column), left_out).map(shown)).collect())
        }
        _ => None,
    }
}

/// A sum with more to add.
fn added(total: Option<Result<Number, Overflow>>, more: &[Number]) -> Option<Result<Number, Overflow>> {
    if more.is_empty() {
        return total;
    }
    let mut sum = DecimalSum::new();
    match total {
        Some(Ok(total)) => sum.add(total),
        Some(Err(overflow)) => return Some(Err(overflow)),
        None => {}
    }
    more.iter().for_each(|number| sum.add(*number));
    Some(sum.total())
}
