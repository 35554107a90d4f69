//! The report as one JSON object, described by docs/diff.schema.json.

#![expect(clippy::struct_field_names, reason = "the fields are those of the JSON")]

#[cfg(test)]
mod tests;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use trueup_compare::{Allow, Break, Cell, ColumnReport, Comparison, Kind, MeasureReport, Role};

use super::{Report, phrases};
use crate::visible::is_unprintable;

/// Writes the object, indented, its fields always in the same order.
pub(super) fn render(report: &Report<'_>) -> String {
    let comparison = report.comparison;
    let object = Object {
        source_row_counts: by_source(comparison, &comparison.source_row_counts),
        join_stats: JoinStats {
            matched_groups: comparison.matched_groups,
            unmatched_by_source: by_source(comparison, &comparison.unmatched_by_source),
        },
        tolerances: comparison.measures.iter().map(|measure| tolerance(report, measure)).collect(),
        result: phrases::verdict(comparison),
        rows_compared: comparison.rows_compared,
        rows_matched: comparison.rows_matched,
        rows_unmatched: comparison.rows_unmatched,
        sources: sources(report),
        key: &comparison.key,
        key_report: Pairs(comparison.sources.iter().map(String::as_str).zip(keys(comparison)).collect()),
        columns: columns(comparison),
        totals: Pairs(totals(comparison)),
        findings: comparison
            .findings
            .iter()
            .map(|finding| Finding { column: &finding.column, problem: &finding.problem })
            .collect(),
        notes: &comparison.notes,
        concentration: concentration(comparison),
        breaks: comparison.breaks.iter().map(|found| break_entry(comparison, found)).collect(),
    };
    // Only a failing `Serialize` or a map key that is no string can make this fail, and there is neither.
    let json = serde_json::to_string_pretty(&object).unwrap_or_else(|error| unreachable!("{error}"));
    spelt(&json) + "\n"
}

/// Spells out what JSON leaves as it is but a terminal takes for a command; such are in strings only.
fn spelt(json: &str) -> String {
    let mut spelt = String::with_capacity(json.len());
    for character in json.chars() {
        if character != '\n' && is_unprintable(character) {
            spelt.extend([format!("\\u{:04x}", u32::from(character))]);
        } else {
            spelt.push(character);
        }
    }
    spelt
}

/// Names and what belongs to them, in the order given.
struct Pairs<'a, T>(Vec<(&'a str, T)>);

impl<T: Serialize> Serialize for Pairs<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

fn by_source<'a, T: Clone>(comparison: &'a Comparison, values: &[T]) -> Pairs<'a, T> {
    Pairs(comparison.sources.iter().map(String::as_str).zip(values.iter().cloned()).collect())
}

#[derive(serde::Serialize)]
struct Object<'a> {
    source_row_counts: Pairs<'a, u64>,
    join_stats: JoinStats<'a>,
    tolerances: Vec<Tolerance<'a>>,
    result: &'static str,
    rows_compared: u64,
    rows_matched: u64,
    rows_unmatched: u64,
    sources: Vec<Source<'a>>,
    key: &'a [String],
    key_report: Pairs<'a, Keys<'a>>,
    columns: Vec<Column<'a>>,
    totals: Pairs<'a, Pairs<'a, Option<String>>>,
    findings: Vec<Finding<'a>>,
    notes: &'a [String],
    concentration: Vec<Concentration<'a>>,
    breaks: Vec<BreakEntry<'a>>,
}

#[derive(serde::Serialize)]
struct JoinStats<'a> {
    matched_groups: u64,
    unmatched_by_source: Pairs<'a, u64>,
}

#[derive(serde::Serialize)]
struct Tolerance<'a> {
    measure_name: &'a str,
    tolerance_type: &'static str,
    tolerance_value: Option<Box<RawValue>>,
    tolerance_base: Option<&'a str>,
    allowed: Allowed,
    within_tolerance_count: u64,
    outside_tolerance_count: u64,
    passed: bool,
    largest_difference: Option<&'a str>,
}

/// A number of groups, or a share of them: `0.1%`.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Allowed {
    Groups(u64),
    Share(String),
}

#[derive(serde::Serialize)]
struct Source<'a> {
    name: &'a str,
    path: &'a str,
    read_as: &'a str,
}

#[derive(serde::Serialize)]
struct Keys<'a> {
    rows: u64,
    distinct_keys: u64,
    duplicated_keys: u64,
    null_keys: u64,
    type_drift: Pairs<'a, &'static str>,
}

#[derive(serde::Serialize)]
struct Column<'a> {
    name: &'a str,
    role: &'static str,
    compared_as: Option<&'static str>,
    types: Pairs<'a, Option<String>>,
    notes: &'a [String],
}

#[derive(serde::Serialize)]
struct Finding<'a> {
    column: &'a str,
    problem: &'a str,
}

#[derive(serde::Serialize)]
struct Concentration<'a> {
    column: &'a str,
    value: Option<&'a str>,
    rows: u64,
    broken_rows: u64,
    all_rows: u64,
    all_broken_rows: u64,
}

#[derive(serde::Serialize)]
struct BreakEntry<'a> {
    key: Pairs<'a, Option<&'a str>>,
    occurrence: u64,
    status: &'static str,
    present_in: Vec<&'a str>,
    key_in: Vec<&'a str>,
    measures: Vec<BrokenMeasure<'a>>,
}

#[derive(serde::Serialize)]
struct BrokenMeasure<'a> {
    measure_name: &'a str,
    values: Pairs<'a, Option<&'a str>>,
    outside: bool,
    pair: Option<[&'a str; 2]>,
    difference: Option<&'a str>,
}

fn tolerance<'a>(report: &'a Report<'_>, measure: &'a MeasureReport) -> Tolerance<'a> {
    Tolerance {
        measure_name: &measure.name,
        tolerance_type: measure.tolerance_type.name(),
        tolerance_value: measure.tolerance_value.as_deref().map(numeral_or_text),
        tolerance_base: report.base(measure),
        allowed: match report.allow(measure) {
            Allow::None => Allowed::Groups(0),
            Allow::Count(groups) => Allowed::Groups(*groups),
            Allow::Percent(share) => Allowed::Share(format!("{share}%")),
        },
        within_tolerance_count: measure.within,
        outside_tolerance_count: measure.outside,
        passed: measure.passed,
        largest_difference: measure.largest_difference.as_deref(),
    }
}

/// A numeral keeps its digits, which a float would not; a duration becomes a string.
fn numeral_or_text(value: &str) -> Box<RawValue> {
    let numeral = value.trim_end_matches('%');
    let is_numeral = numeral.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    (RawValue::from_string(numeral.to_owned()).ok().filter(|_| is_numeral))
        .or_else(|| serde_json::value::to_raw_value(value).ok())
        .unwrap_or_default()
}

fn sources<'a>(report: &Report<'a>) -> Vec<Source<'a>> {
    (report.comparison.sources.iter().zip(report.inputs))
        .map(|(name, input)| Source { name, path: &input.path, read_as: &input.read_as })
        .collect()
}

fn keys(comparison: &Comparison) -> impl Iterator<Item = Keys<'_>> {
    comparison.key_report.iter().map(|keys| Keys {
        rows: keys.rows,
        distinct_keys: keys.distinct_keys,
        duplicated_keys: keys.duplicated_keys,
        null_keys: keys.null_keys,
        type_drift: Pairs(
            keys.type_drift.iter().map(|drift| (drift.column.as_str(), drift.kind.name())).collect(),
        ),
    })
}

fn columns<'a>(comparison: &'a Comparison) -> Vec<Column<'a>> {
    let entry = |column: &'a ColumnReport| {
        let ColumnReport { name, role, compared_as, types, notes } = column;
        let role = match role {
            Role::Key => "key",
            Role::Compared => "compared",
            Role::Ignored => "ignored",
            Role::Missing => "missing",
        };
        Column {
            name,
            role,
            compared_as: compared_as.map(Kind::name),
            types: by_source(comparison, types),
            notes,
        }
    };
    comparison.columns.iter().map(entry).collect()
}

fn totals(comparison: &Comparison) -> Vec<(&str, Pairs<'_, Option<String>>)> {
    (comparison.measures.iter())
        .filter_map(|measure| Some((measure.name.as_str(), by_source(comparison, measure.totals.as_ref()?))))
        .collect()
}

fn concentration(comparison: &Comparison) -> Vec<Concentration<'_>> {
    (comparison.concentration.iter())
        .map(|found| Concentration {
            column: &found.column,
            value: found.value.as_deref(),
            rows: found.rows,
            broken_rows: found.broken_rows,
            all_rows: found.all_rows,
            all_broken_rows: found.all_broken_rows,
        })
        .collect()
}

fn break_entry<'a>(comparison: &'a Comparison, found: &'a Break) -> BreakEntry<'a> {
    let names = |flags: &[bool]| {
        let chosen = comparison.sources.iter().zip(flags).filter(|(_, has)| **has);
        chosen.map(|(name, _)| name.as_str()).collect()
    };
    let is_outside = found.is_outside();
    let measures = (comparison.measures.iter().zip(&found.cells))
        .filter(|(_, cell)| cell.outside.is_some() || !is_outside)
        .map(|(measure, cell)| broken_measure(comparison, &measure.name, cell))
        .collect();
    BreakEntry {
        key: Pairs(
            comparison.key.iter().map(String::as_str).zip(found.key.iter().map(Option::as_deref)).collect(),
        ),
        occurrence: found.occurrence,
        status: if is_outside { "outside" } else { "unmatched" },
        present_in: names(&found.present),
        key_in: names(&found.has_key),
        measures,
    }
}

fn broken_measure<'a>(
    comparison: &'a Comparison,
    measure_name: &'a str,
    cell: &'a Cell,
) -> BrokenMeasure<'a> {
    let outside = cell.outside.as_ref();
    let present = (comparison.sources.iter().zip(&cell.values))
        .filter_map(|(name, value)| Some((name.as_str(), value.as_ref()?.as_deref())));
    BrokenMeasure {
        measure_name,
        values: Pairs(present.collect()),
        outside: outside.is_some(),
        pair: outside.map(|it| [it.pair.0, it.pair.1].map(|source| comparison.sources[source].as_str())),
        difference: outside.and_then(|it| it.difference.as_deref()),
    }
}
