//! A comparator that is slow and obvious, written from the documentation, to hold the real one against.

mod pairing;
mod ratio;

use std::collections::{BTreeMap, BTreeSet};

use trueup_compare::{Aggregate, Allow, Base, Duplicates, Normaliser, Rule, Spec};
use unicode_normalization::UnicodeNormalization;

pub use ratio::{Number, Ratio};

/// A value by its meaning; the order is the one that keys and rows are sorted in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    Bytes(Vec<u8>),
    /// Nanoseconds: of a date its midnight.
    Time(i128),
}

pub type Row = Vec<Value>;

/// What the types of a column in all sources add up to.
#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    /// A double in every source, so that sums are rounded.
    pub float: bool,
    /// Nanoseconds of the coarsest type.
    pub precision: i128,
}

/// Two sources that may be named as the reason for a break, the lower or the reference first.
pub type Pair = (usize, usize);

#[derive(Debug)]
pub struct Answer {
    pub source_row_counts: Vec<u64>,
    pub matched_groups: u64,
    pub unmatched_by_source: Vec<u64>,
    pub rows_compared: u64,
    pub rows_matched: u64,
    pub measures: Vec<MeasureCounts>,
    pub keys: Vec<KeyCounts>,
    pub matched: bool,
    pub breaks: Vec<BrokenGroup>,
}

#[derive(Debug)]
pub struct MeasureCounts {
    pub name: String,
    pub within: u64,
    pub outside: u64,
    pub passed: bool,
    /// Sums per source over all rows, of sums and of columns compared row by row.
    pub totals: Vec<Value>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct KeyCounts {
    pub rows: u64,
    pub distinct: u64,
    pub duplicated: u64,
    pub null: u64,
}

#[derive(Debug)]
pub struct BrokenGroup {
    pub key: Row,
    /// Per source, one value per measure.
    pub values: Vec<Option<Row>>,
    /// Per measure, the pairs that may be named; `None` when within.
    pub outside: Vec<Option<Vec<Pair>>>,
}

/// A key repeats although the policy forbids it.
#[derive(Debug)]
pub struct Repeated;

/// A measure with everything that was said about it.
struct Measured {
    name: String,
    aggregate: Aggregate,
    column: Option<usize>,
    rule: Rule,
    allow: Allow,
}

/// Compares tables given as rows of values in the order of `columns`.
pub fn compare(columns: &[Column], tables: &[Vec<Row>], spec: &Spec) -> Result<Answer, Repeated> {
    let tables: Vec<Vec<Row>> = tables
        .iter()
        .map(|rows| rows.iter().map(|row| canonical(row, columns, spec)).collect())
        .collect();
    let key_columns: Vec<usize> = spec
        .key
        .iter()
        .map(|name| position(columns, name).expect("a key column"))
        .collect();
    let measures = measured(columns, spec);
    let aggregated = measures
        .iter()
        .any(|measure| measure.aggregate != Aggregate::Value);

    let mut groups: BTreeMap<Row, Vec<Vec<&Row>>> = BTreeMap::new();
    for (source, rows) in tables.iter().enumerate() {
        for row in rows {
            let key = key_columns.iter().map(|&column| row[column].clone()).collect();
            groups
                .entry(key)
                .or_insert_with(|| vec![Vec::new(); tables.len()])[source]
                .push(row);
        }
    }
    let keys = (0..tables.len())
        .map(|source| key_counts(&groups, source))
        .collect::<Vec<_>>();
    if spec.duplicates == Some(Duplicates::Error) && keys.iter().any(|counts| counts.duplicated > 0) {
        return Err(Repeated);
    }

    let mut answer = Answer {
        source_row_counts: tables.iter().map(|rows| rows.len() as u64).collect(),
        matched_groups: 0,
        unmatched_by_source: vec![0; tables.len()],
        rows_compared: 0,
        rows_matched: 0,
        measures: measures
            .iter()
            .map(|measure| measure.counts(columns, &tables))
            .collect(),
        keys,
        matched: true,
        breaks: Vec::new(),
    };
    for (key, sources) in groups {
        let tuples = if aggregated {
            let folded = sources.iter().map(|rows| {
                (!rows.is_empty()).then(|| {
                    measures
                        .iter()
                        .map(|measure| measure.fold(columns, rows))
                        .collect()
                })
            });
            vec![folded.collect()]
        } else {
            let project = |row: &&Row| {
                measures
                    .iter()
                    .map(|measure| row[measure.column.expect("a column")].clone())
                    .collect()
            };
            let rows: Vec<Vec<Row>> = sources
                .iter()
                .map(|rows| rows.iter().map(project).collect())
                .collect();
            pairing::tuples(&rows, spec.reference, |one, other| {
                (0..measures.len())
                    .filter(|&index| {
                        is_outside(
                            &measures[index].rule,
                            (one.0, &one.1[index]),
                            (other.0, &other.1[index]),
                            None,
                        )
                    })
                    .count()
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
                *(if outside[index].is_some() {
                    &mut self.measures[index].outside
                } else {
                    &mut self.measures[index].within
                }) += 1;
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
        self.breaks.push(BrokenGroup {
            key: key.clone(),
            values: tuple,
            outside,
        });
    }
}

fn position(columns: &[Column], name: &str) -> Option<usize> {
    columns.iter().position(|column| column.name == name)
}

fn canonical(row: &Row, columns: &[Column], spec: &Spec) -> Row {
    let cell = |(value, column): (&Value, &Column)| match value {
        Value::Text(text) => Value::Text(normalise(
            text,
            spec.normalisers.get(&column.name).map_or(&[], Vec::as_slice),
        )),
        Value::Time(nanos) => Value::Time(nanos.div_euclid(column.precision) * column.precision),
        other => other.clone(),
    };
    row.iter().zip(columns).map(cell).collect()
}

/// Applies normalisers in their fixed order.
pub fn normalise(text: &str, normalisers: &[Normaliser]) -> String {
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

fn measured(columns: &[Column], spec: &Spec) -> Vec<Measured> {
    let measured = |name: &str, aggregate, column: &str| {
        let tolerance = spec.tolerances.get(name).or_else(|| spec.tolerances.get(column));
        Measured {
            name: name.to_owned(),
            aggregate,
            column: position(columns, column),
            rule: tolerance.map_or(Rule::Exact, |tolerance| tolerance.rule.clone()),
            allow: tolerance.map_or(Allow::None, |tolerance| tolerance.allow.clone()),
        }
    };
    if !spec.measures.is_empty() {
        return spec
            .measures
            .iter()
            .map(|measure| measured(&measure.name, measure.aggregate, &measure.column))
            .collect();
    }
    let wanted = |name: &String| {
        !spec.key.contains(name)
            && !spec.ignore.contains(name)
            && (spec.compare.is_empty() || spec.compare.contains(name))
    };
    columns
        .iter()
        .map(|column| &column.name)
        .filter(|name| wanted(name))
        .map(|name| measured(name, Aggregate::Value, name))
        .collect()
}

impl Measured {
    fn counts(&self, columns: &[Column], tables: &[Vec<Row>]) -> MeasureCounts {
        let is_total = matches!(self.aggregate, Aggregate::Sum | Aggregate::Value);
        let total = |rows: &Vec<Row>| match self.column {
            Some(column) if is_total => sum(rows.iter().map(|row| &row[column]), columns[column].float),
            _ => Value::Null,
        };
        MeasureCounts {
            name: self.name.clone(),
            within: 0,
            outside: 0,
            passed: true,
            totals: tables.iter().map(total).collect(),
        }
    }

    /// Turns the rows of a group into one value.
    fn fold(&self, columns: &[Column], rows: &[&Row]) -> Value {
        let Some(column) = self.column else {
            return Value::Number(Number::from(rows.len()));
        };
        let values: Vec<&Value> = rows
            .iter()
            .map(|row| &row[column])
            .filter(|value| **value != Value::Null)
            .collect();
        let sum = || sum(values.iter().copied(), columns[column].float);
        match self.aggregate {
            Aggregate::Count => Value::Number(Number::from(values.len())),
            Aggregate::CountDistinct => {
                Value::Number(Number::from(values.iter().collect::<BTreeSet<_>>().len()))
            }
            Aggregate::Sum => sum(),
            Aggregate::Avg => match sum() {
                Value::Number(Number::Finite(sum)) => Value::Number(Number::Finite(sum.over(values.len()))),
                other => other,
            },
            Aggregate::Min => values.into_iter().min().cloned().unwrap_or(Value::Null),
            Aggregate::Max | Aggregate::Value => values.into_iter().max().cloned().unwrap_or(Value::Null),
        }
    }
}

fn sum<'a>(values: impl Iterator<Item = &'a Value>, float: bool) -> Value {
    let numbers: Vec<&Number> = values
        .filter_map(|value| {
            if let Value::Number(number) = value {
                Some(number)
            } else {
                None
            }
        })
        .collect();
    if numbers.is_empty() {
        return Value::Null;
    }
    let has = |wanted: &Number| numbers.contains(&wanted);
    let finite = numbers.iter().filter_map(|number| {
        if let Number::Finite(ratio) = number {
            Some(ratio)
        } else {
            None
        }
    });
    Value::Number(
        match (
            has(&Number::NaN),
            has(&Number::Infinity),
            has(&Number::MinusInfinity),
        ) {
            (true, ..) | (_, true, true) => Number::NaN,
            (_, true, _) => Number::Infinity,
            (.., true) => Number::MinusInfinity,
            _ if float => Number::Finite(Ratio::sum_of_doubles(finite)),
            _ => Number::Finite(finite.fold(Ratio::zero(), |sum, ratio| sum.plus(ratio))),
        },
    )
}

fn key_counts(groups: &BTreeMap<Row, Vec<Vec<&Row>>>, source: usize) -> KeyCounts {
    let rows = |key: &Row| groups[key][source].len() as u64;
    KeyCounts {
        rows: groups.keys().map(rows).sum(),
        distinct: groups.keys().filter(|key| rows(key) > 0).count() as u64,
        duplicated: groups.keys().filter(|key| rows(key) > 1).count() as u64,
        null: groups
            .keys()
            .filter(|key| key.contains(&Value::Null))
            .map(rows)
            .sum(),
    }
}

/// Says which pairs may be blamed when the values of all sources are not within the rule.
fn judge(rule: &Rule, values: &[&Value], reference: Option<usize>) -> Option<Vec<Pair>> {
    let two_sided =
        matches!(rule, Rule::Duration { from, to } if Ratio::from(from) != Ratio::from(to).negated());
    let base = if let Rule::Percentage {
        base: Base::Source(source),
        ..
    } = rule
    {
        Some(values[*source])
    } else {
        None
    };
    let outside =
        |one: usize, other: usize| is_outside(rule, (one, values[one]), (other, values[other]), base);
    let sources = 0..values.len();
    if let Some(reference) = reference.or(two_sided.then_some(0)) {
        let pairs: Vec<Pair> = sources
            .filter(|&other| outside(reference, other))
            .map(|other| (reference, other))
            .collect();
        let distance = |&(one, other): &Pair| distance(values[one], values[other]);
        let furthest = pairs.iter().filter_map(distance).max();
        let measurable = matches!(rule, Rule::Absolute(_) | Rule::Exact)
            && pairs.iter().all(|pair| distance(pair).is_some());
        let worst = pairs
            .iter()
            .find(|pair| measurable && distance(pair) == furthest)
            .map(|&pair| vec![pair]);
        return (!pairs.is_empty()).then(|| worst.unwrap_or(pairs));
    }
    if values.iter().all(|value| distance(value, value).is_some()) {
        let (smallest, largest) = (values.iter().min()?, values.iter().max()?);
        let find = |wanted: &Value| values.iter().position(|&value| value == wanted);
        let (low, high) = (find(smallest)?, find(largest)?);
        return outside(low, high).then(|| vec![(low.min(high), low.max(high))]);
    }
    let pairs: Vec<Pair> = sources
        .flat_map(|one| (one + 1..values.len()).map(move |other| (one, other)))
        .filter(|&(one, other)| values[one] != values[other])
        .collect();
    (!pairs.is_empty()).then_some(pairs)
}

/// How far finite numbers (or times, in seconds) are apart.
fn distance(one: &Value, other: &Value) -> Option<Ratio> {
    difference(one, other).map(|difference| difference.magnitude())
}

/// Second minus first of finite numbers or of times, the latter in seconds.
pub fn difference(one: &Value, other: &Value) -> Option<Ratio> {
    match (one, other) {
        (Value::Number(Number::Finite(one)), Value::Number(Number::Finite(other))) => Some(other.minus(one)),
        (Value::Time(one), Value::Time(other)) => Some(Ratio::new(other - one, 1_000_000_000)),
        _ => None,
    }
}

/// Whether the second value, held against the first, breaks the rule; `base` is the value of the source a percentage is of.
fn is_outside(rule: &Rule, one: (usize, &Value), other: (usize, &Value), base: Option<&Value>) -> bool {
    if one.1 == other.1 {
        return false;
    }
    let Some(difference) = difference(one.1, other.1) else {
        return true;
    };
    match rule {
        Rule::Exact => true,
        Rule::Absolute(tolerance) => difference.magnitude() > Ratio::from(tolerance),
        Rule::Duration { from, to } => difference < Ratio::from(from) || difference > Ratio::from(to),
        Rule::Percentage { value, base: kind } => {
            let magnitude = |value: &Value| distance(&Value::Number(Number::from(0)), value);
            let (Some(first), Some(second)) = (magnitude(one.1), magnitude(other.1)) else {
                return true;
            };
            let base = match kind {
                Base::Larger => first.max(second),
                Base::Smaller => first.min(second),
                Base::Mean => first.plus(&second).over(2),
                Base::Source(source) => match base {
                    Some(base) => match magnitude(base) {
                        Some(base) => base,
                        None => return true,
                    },
                    None if *source == other.0 => second,
                    None => first,
                },
            };
            difference.magnitude().times(&Ratio::from(100)) > Ratio::from(value).times(&base)
        }
    }
}

fn passes(outside: u64, groups: u64, allow: &Allow) -> bool {
    match allow {
        Allow::None => outside == 0,
        Allow::Count(count) => outside <= *count,
        Allow::Percent(percent) => {
            Ratio::from(outside).times(&Ratio::from(100)) <= Ratio::from(percent).times(&Ratio::from(groups))
        }
    }
}
