//! What must hold between a comparison and the oracle's answer, and within a comparison.

use std::fmt::Debug;

use trueup_compare::{Aggregate, Break, Comparison, KeyReport, MeasureReport, Verdict};

use crate::oracle::{self, Answer, BrokenGroup, Number, Ratio, Row, Value};
use crate::tables::Case;
use crate::tables::cell::Kind;

fn same<T: PartialEq + Debug>(what: &str, found: &T, expected: &T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?}, expected {expected:?}")) }
}

/// The identities that hold for every comparison.
pub(crate) fn identities(comparison: &Comparison, breaks: &[Break]) -> Result<(), String> {
    let unmatched: u64 = comparison.unmatched_by_source.iter().sum();
    if comparison.sources.len() == 2 {
        same("groups", &comparison.rows_compared, &(comparison.matched_groups + unmatched))?;
    }
    for measure in &comparison.measures {
        same(&measure.name, &(measure.within + measure.outside), &comparison.matched_groups)?;
    }
    same(
        "rows_unmatched",
        &comparison.rows_unmatched,
        &(comparison.rows_compared - comparison.rows_matched),
    )?;
    same("breaks", &(breaks.len() as u64), &comparison.rows_unmatched)?;
    let outside = breaks.iter().filter(|found| found.is_outside()).count() as u64;
    same("outside", &outside, &(comparison.matched_groups - comparison.rows_matched))?;
    let passed = comparison.measures.iter().all(|measure| measure.passed);
    let verdict = if unmatched == 0 && passed && comparison.findings.is_empty() {
        Verdict::Matched
    } else {
        Verdict::Unmatched
    };
    same("verdict", &comparison.verdict, &verdict)
}

/// Every count and every break is the oracle's.
pub(crate) fn with(
    answer: &Answer,
    comparison: &Comparison,
    breaks: &[Break],
    case: &Case,
) -> Result<(), String> {
    same("findings", &comparison.findings, &Vec::new())?;
    same("source_row_counts", &comparison.source_row_counts, &answer.source_row_counts)?;
    // The oracle sees values only, not what a source has them as.
    let counts = |keys: &KeyReport| KeyReport { type_drift: Vec::new(), ..keys.clone() };
    same("key_report", &comparison.key_report.iter().map(counts).collect(), &answer.keys)?;
    same("rows_compared", &comparison.rows_compared, &answer.rows_compared)?;
    same("matched_groups", &comparison.matched_groups, &answer.matched_groups)?;
    same("unmatched_by_source", &comparison.unmatched_by_source, &answer.unmatched_by_source)?;
    let names = |names: &mut dyn Iterator<Item = String>| {
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    let found = names(&mut comparison.measures.iter().map(|measure| measure.name.clone()));
    same("measures", &found, &names(&mut answer.measures.iter().map(|measure| measure.name.clone())))?;
    // Where each of the oracle's measures is in the comparison.
    let places: Vec<usize> = answer
        .measures
        .iter()
        .filter_map(|counts| comparison.measures.iter().position(|measure| measure.name == counts.name))
        .collect();
    for (counts, &place) in answer.measures.iter().zip(&places) {
        let found = &comparison.measures[place];
        same(
            &counts.name,
            &(found.within, found.outside, found.passed),
            &(counts.within, counts.outside, counts.passed),
        )?;
        totals(found, &counts.totals, case)?;
    }
    same("rows_matched", &comparison.rows_matched, &answer.rows_matched)?;
    same("verdict", &(comparison.verdict == Verdict::Matched), &answer.matched)?;
    let kept: Vec<Break> = breaks.iter().take(case.spec.limit).cloned().collect();
    same("breaks kept", &comparison.breaks, &kept)?;
    all_breaks(answer, breaks, &places, case)?;
    largest_differences(answer, comparison, &places)
}

fn totals(found: &MeasureReport, expected: &[Value], case: &Case) -> Result<(), String> {
    if column_kind(&found.name, case) == Some(Kind::Wild) || case.singles.contains(&found.name) {
        return Ok(());
    }
    for (source, total) in expected.iter().enumerate() {
        let Value::Number(total @ Number::Finite(_)) = total else {
            continue;
        };
        let shown = found.totals.as_ref().and_then(|totals| totals[source].as_deref());
        same(
            &format!("total of {} in {source}", found.name),
            &shown.and_then(Number::parse).as_ref(),
            &Some(total),
        )?;
    }
    Ok(())
}

/// The kind of the column of a measure; `None` for counts.
fn column_kind(measure: &str, case: &Case) -> Option<Kind> {
    let column = match case.spec.measures.iter().find(|known| known.name == measure) {
        Some(known) if matches!(known.aggregate, Aggregate::Count | Aggregate::CountDistinct) => return None,
        Some(known) => &known.column,
        None => measure,
    };
    case.columns.iter().position(|known| known.name == column).map(|index| case.kinds[index])
}

fn all_breaks(answer: &Answer, breaks: &[Break], places: &[usize], case: &Case) -> Result<(), String> {
    same("number of breaks", &breaks.len(), &answer.breaks.len())?;
    let key_kinds: Vec<Kind> = case.spec.key.iter().filter_map(|name| column_kind(name, case)).collect();
    let measure_names: Vec<&str> = answer.measures.iter().map(|measure| measure.name.as_str()).collect();
    let mut start = 0;
    while start < breaks.len() {
        let key = &answer.breaks[start].key;
        let end = start + answer.breaks[start..].iter().take_while(|group| group.key == *key).count();
        let mut expected: Vec<(String, &BrokenGroup)> = answer.breaks[start..end]
            .iter()
            .map(|group| (sign_expected(group, &measure_names, case), group))
            .collect();
        let mut found: Vec<(String, &Break)> = breaks[start..end]
            .iter()
            .map(|found| (sign_found(found, places, &measure_names, case), found))
            .collect();
        expected.sort_by(|one, other| one.0.cmp(&other.0));
        found.sort_by(|one, other| one.0.cmp(&other.0));
        for index in 0..found.len() {
            let (signature, found_break) = &found[index];
            let key_found = key_kinds.iter().zip(&found_break.key).zip(&case.spec.key);
            let key_found: Vec<String> =
                key_found.map(|((kind, part), name)| meaning(part.as_deref(), *kind, name, case)).collect();
            let key_expected: Vec<String> =
                key_kinds.iter().zip(key).map(|(kind, part)| expected_meaning(part, *kind)).collect();
            same("key of a break", &key_found, &key_expected)?;
            same(&format!("break of {key:?}"), signature, &expected[index].0)?;
            if expected.iter().filter(|(other, _)| other == signature).count() == 1 {
                reasons(found_break, expected[index].1, places)?;
            }
        }
        start = end;
    }
    Ok(())
}

/// What a text of a report stands for, as far as its kind can be read back.
fn meaning(shown: Option<&str>, kind: Kind, column: &str, case: &Case) -> String {
    let Some(shown) = shown else { return "NULL".into() };
    match kind {
        Kind::Text => {
            let normalisers = case.spec.normalisers.get(column).map_or(&[][..], Vec::as_slice);
            format!("{:?}", oracle::normalise(shown, normalisers))
        }
        Kind::Boolean | Kind::Flag => {
            matches!(shown.to_lowercase().as_str(), "true" | "t" | "yes" | "y" | "1").to_string()
        }
        kind if kind.is_number() => {
            Number::parse(shown).map_or_else(|| format!("no number: {shown}"), |number| plain(&number))
        }
        _ => "some".into(),
    }
}

fn expected_meaning(value: &Value, kind: Kind) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Text(text) => format!("{text:?}"),
        Value::Bool(bool) => bool.to_string(),
        Value::Number(number) if kind.is_number() => plain(number),
        _ => "some".into(),
    }
}

/// One spelling for each number.
fn plain(number: &Number) -> String {
    match number {
        Number::Finite(ratio) => ratio.reduced(),
        other => format!("{other:?}"),
    }
}

fn sign(values: impl Iterator<Item = Option<Vec<String>>>, outside: &[bool]) -> String {
    format!("{:?} outside {outside:?}", values.collect::<Vec<_>>())
}

fn shown_kind(name: &str, case: &Case) -> Kind {
    let average =
        case.spec.measures.iter().any(|measure| measure.name == name && measure.aggregate == Aggregate::Avg);
    // An average need not have a finite decimal, so it is not read back.
    if average { Kind::Binary } else { column_kind(name, case).unwrap_or(Kind::Integer) }
}

fn sign_expected(group: &BrokenGroup, names: &[&str], case: &Case) -> String {
    let meanings = |row: &Row| {
        row.iter().zip(names).map(|(value, name)| expected_meaning(value, shown_kind(name, case))).collect()
    };
    let outside: Vec<bool> = group.outside.iter().map(Option::is_some).collect();
    sign(group.values.iter().map(|row| row.as_ref().map(meanings)), &outside)
}

fn sign_found(found: &Break, places: &[usize], names: &[&str], case: &Case) -> String {
    let row = |(source, present): (usize, &bool)| {
        let shown = |(&place, name): (&usize, &&str)| match &found.cells[place].values[source] {
            None => "absent".to_owned(),
            Some(text) => meaning(text.as_deref(), shown_kind(name, case), name, case),
        };
        present.then(|| places.iter().zip(names).map(shown).collect())
    };
    let outside: Vec<bool> = places.iter().map(|&place| found.cells[place].outside.is_some()).collect();
    sign(found.present.iter().enumerate().map(row), &outside)
}

/// The pairs named and how far they are apart.
fn reasons(found: &Break, expected: &BrokenGroup, places: &[usize]) -> Result<(), String> {
    for (index, (&place, pairs)) in places.iter().zip(&expected.outside).enumerate() {
        let (Some(outside), Some(pairs)) = (&found.cells[place].outside, pairs) else {
            continue;
        };
        if !pairs.contains(&outside.pair) {
            return Err(format!("pair {:?} named, expected one of {pairs:?} in {expected:#?}", outside.pair));
        }
        let value = |source: usize| expected.values[source].as_ref().map(|row| &row[index]);
        let (Some(one), Some(other)) = (value(outside.pair.0), value(outside.pair.1)) else {
            continue;
        };
        match (one, oracle::difference(one, other)) {
            (_, None) => {}
            (Value::Number(_), Some(difference))
                if difference.digits().is_some_and(|digits| digits <= 38) =>
            {
                let shown = outside
                    .difference
                    .as_deref()
                    .and_then(|shown| Ratio::parse(shown.trim_start_matches('+')));
                same("difference", &shown, &Some(difference))?;
            }
            _ => same("a difference", &outside.difference.is_some(), &true)?,
        }
    }
    Ok(())
}

/// The largest difference of two sources, in whatever groups both have.
fn largest_differences(answer: &Answer, comparison: &Comparison, places: &[usize]) -> Result<(), String> {
    if comparison.sources.len() > 2 {
        return Ok(());
    }
    for (counts, &place) in answer.measures.iter().zip(places) {
        let Some(largest) = counts.largest.as_ref() else { continue };
        if largest.digits().is_some_and(|digits| digits <= 38) {
            let shown = comparison.measures[place].largest_difference.as_deref().and_then(Ratio::parse);
            same(&format!("largest difference of {}", counts.name), &shown.as_ref(), &Some(largest))?;
        }
    }
    Ok(())
}
