//! A comparator that is slow and obvious, written from the documentation, to hold the real one against.

mod measures;
mod pairing;
mod ratio;
mod rules;

use std::collections::BTreeMap;

use trueup_compare::{Aggregate, Duplicates, KeyReport, Normaliser, Spec};
use unicode_normalization::UnicodeNormalization;

use measures::{Measured, measured};
pub(crate) use ratio::{Number, Ratio};
pub(crate) use rules::difference;
use rules::{distance, is_outside, judge, passes};

/// A value by its meaning; the order is the one that keys and rows are sorted in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    Bytes(Vec<u8>),
    /// Nanoseconds: of a date its midnight.
    Time(i128),
}

pub(crate) type Row = Vec<Value>;

/// The rows of each key, by source.
type Groups<'a> = BTreeMap<Row, Vec<Vec<&'a Row>>>;

/// What the types of a column in all sources add up to.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub name: String,
    /// A double in every source, so that sums are rounded.
    pub float: bool,
    /// Nanoseconds of the coarsest type.
    pub precision: i128,
}

/// Two sources that may be named as the reason for a break, the lower or the reference first.
pub(crate) type Pair = (usize, usize);

#[derive(Debug)]
pub(crate) struct Answer {
    pub source_row_counts: Vec<u64>,
    pub matched_groups: u64,
    pub unmatched_by_source: Vec<u64>,
    pub rows_compared: u64,
    pub rows_matched: u64,
    pub measures: Vec<MeasureCounts>,
    pub keys: Vec<KeyReport>,
    pub matched: bool,
    pub breaks: Vec<BrokenGroup>,
}

#[derive(Debug)]
pub(crate) struct MeasureCounts {
    pub name: String,
    pub within: u64,
    pub outside: u64,
    pub passed: bool,
    /// Sums per source over all rows, of sums and of columns compared row by row; counts of what is counted.
    pub totals: Vec<Value>,
    /// Of two sources, the largest difference of any two numbers that are held against each other.
    pub largest: Option<Ratio>,
}

#[derive(Debug)]
pub(crate) struct BrokenGroup {
    pub key: Row,
    /// Per source, one value per measure.
    pub values: Vec<Option<Row>>,
    /// Per measure, the pairs that may be named; `None` when within.
    pub outside: Vec<Option<Vec<Pair>>>,
}

/// A key repeats although the policy forbids it.
#[derive(Debug)]
pub(crate) struct Repeated;

/// Compares tables given as rows of values in the order of `columns`.
pub(crate) fn compare(columns: &[Column], tables: &[Vec<Row>], spec: &Spec) -> Result<Answer, Repeated> {
    let tables: Vec<Vec<Row>> =
        tables.iter().map(|rows| rows.iter().map(|row| canonical(row, columns, spec)).collect()).collect();
    let key_columns: Vec<usize> =
        spec.key.iter().map(|name| position(columns, name).expect("a key column")).collect();
    let measures = measured(columns, spec);
    let aggregated = measures.iter().any(|measure| measure.aggregate != Aggregate::Value);

    let mut groups = Groups::new();
    for (source, rows) in tables.iter().enumerate() {
        for row in rows {
            let key = key_columns.iter().map(|&column| row[column].clone()).collect();
            groups.entry(key).or_insert_with(|| vec![Vec::new(); tables.len()])[source].push(row);
        }
    }
    let keys: Vec<KeyReport> = (0..tables.len()).map(|source| key_report(&groups, source)).collect();
    if spec.duplicates == Some(Duplicates::Error) && keys.iter().any(|report| report.duplicated_keys > 0) {
        return Err(Repeated);
    }

    let mut answer = Answer {
        source_row_counts: tables.iter().map(|rows| rows.len() as u64).collect(),
        matched_groups: 0,
        unmatched_by_source: vec![0; tables.len()],
        rows_compared: 0,
        rows_matched: 0,
        measures: measures.iter().map(|measure| measure.counts(columns, &tables)).collect(),
        keys,
        matched: true,
        breaks: Vec::new(),
    };
    for (key, sources) in groups {
        let tuples = if aggregated {
            let fold =
                |rows: &Vec<&Row>| measures.iter().map(|measure| measure.fold(columns, rows)).collect();
            vec![sources.iter().map(|rows| (!rows.is_empty()).then(|| fold(rows))).collect()]
        } else {
            let project = |row: &&Row| -> Row { measures.iter().map(|measure| measure.of(row)).collect() };
            let rows: Vec<Vec<Row>> = sources.iter().map(|rows| rows.iter().map(project).collect()).collect();
            pairing::tuples(&rows, spec.reference, |(one, one_row), (other, other_row)| {
                let pairs = measures.iter().zip(one_row.iter().zip(other_row));
                pairs.filter(|(it, (a, b))| is_outside(&it.rule, (one, a), (other, b), None)).count()
            })
        };
        for tuple in tuples {
            answer.count(&key, tuple, &measures, spec.reference);
        }
    }
    for (counts, measure) in answer.measures.iter_mut().zip(&measures) {
        counts.passed = passes(counts.outside, answer.matched_groups, &measure.allow);
    }
    answer.matched = answer.unmatched_by_source.iter().all(|&count| count == 0)
        && answer.measures.iter().all(|counts| counts.passed);
    Ok(answer)
}

impl Answer {
    fn count(&mut self, key: &Row, tuple: Vec<Option<Row>>, measures: &[Measured], reference: Option<usize>) {
        self.rows_compared += 1;
        let mut outside = vec![None; measures.len()];
        if tuple.iter().all(Option::is_some) {
            self.matched_groups += 1;
            for (index, measure) in measures.iter().enumerate() {
                let values: Vec<&Value> = tuple.iter().flatten().map(|row| &row[index]).collect();
                outside[index] = judge(&measure.rule, &values, reference);
                let counts = &mut self.measures[index];
                if let [one @ Value::Number(_), other] = values[..] {
                    counts.largest = counts.largest.take().max(distance(one, other));
                }
                *(if outside[index].is_some() { &mut counts.outside } else { &mut counts.within }) += 1;
            }
            if outside.iter().all(Option::is_none) {
                self.rows_matched += 1;
                return;
            }
        } else {
            for (count, row) in self.unmatched_by_source.iter_mut().zip(&tuple) {
                *count += u64::from(row.is_some());
            }
        }
        self.breaks.push(BrokenGroup { key: key.clone(), values: tuple, outside });
    }
}

/// The key of a row by some dimensions.
pub(crate) fn key(row: &Row, columns: &[Column], spec: &Spec) -> Row {
    let row = canonical(row, columns, spec);
    let part = |name: &String| row[position(columns, name).expect("a key column")].clone();
    spec.key.iter().map(part).collect()
}

fn position(columns: &[Column], name: &str) -> Option<usize> {
    columns.iter().position(|column| column.name == name)
}

fn canonical(row: &Row, columns: &[Column], spec: &Spec) -> Row {
    let cell = |(value, column): (&Value, &Column)| match value {
        Value::Text(text) => {
            Value::Text(normalise(text, spec.normalisers.get(&column.name).map_or(&[], Vec::as_slice)))
        }
        Value::Time(nanos) => Value::Time(nanos.div_euclid(column.precision) * column.precision),
        other => other.clone(),
    };
    row.iter().zip(columns).map(cell).collect()
}

/// Applies normalisers in their fixed order.
pub(crate) fn normalise(text: &str, normalisers: &[Normaliser]) -> String {
    let mut text = text.to_owned();
    if normalisers.contains(&Normaliser::Nfc) {
        text = text.nfc().collect();
    }
    if normalisers.contains(&Normaliser::Casefold) {
        text = caseless::default_case_fold_str(&text);
    }
    if normalisers.contains(&Normaliser::Trim) {
        text = text.trim().to_owned();
    }
    if normalisers.contains(&Normaliser::CollapseSpace) {
        let mut collapsed = String::new();
        for letter in text.chars() {
            if !letter.is_whitespace() {
                collapsed.push(letter);
            } else if !collapsed.ends_with(' ') {
                collapsed.push(' ');
            }
        }
        text = collapsed;
    }
    text
}

fn key_report(groups: &Groups<'_>, source: usize) -> KeyReport {
    let counts = || groups.iter().map(|(key, sources)| (key, sources[source].len() as u64));
    KeyReport {
        rows: counts().map(|(_, rows)| rows).sum(),
        distinct_keys: counts().filter(|(_, rows)| *rows > 0).count() as u64,
        duplicated_keys: counts().filter(|(_, rows)| *rows > 1).count() as u64,
        null_keys: counts().filter(|(key, _)| key.contains(&Value::Null)).map(|(_, rows)| rows).sum(),
        type_drift: Vec::new(),
    }
}
