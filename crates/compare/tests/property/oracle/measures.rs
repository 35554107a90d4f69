//! What is compared of each group.

use std::collections::BTreeSet;

use trueup_compare::{Aggregate, Allow, Rule, Spec};

use super::{Column, MeasureCounts, Number, Ratio, Row, Value, position};

/// A measure with everything that was said about it.
pub(super) struct Measured {
    pub name: String,
    pub aggregate: Aggregate,
    pub column: Option<usize>,
    pub rule: Rule,
    pub allow: Allow,
}

/// The measures asked for; row by row, one for each column that is compared.
pub(super) fn measured(columns: &[Column], spec: &Spec) -> Vec<Measured> {
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
    pub(super) fn counts(&self, columns: &[Column], tables: &[Vec<Row>]) -> MeasureCounts {
        let is_total = matches!(self.aggregate, Aggregate::Sum | Aggregate::Value);
        let total = |rows: &Vec<Row>| match self.column {
            Some(column) if is_total => sum(rows.iter().map(|row| &row[column]), columns[column].float),
            Some(column) if self.aggregate == Aggregate::Count => {
                Value::Number(Number::from(rows.iter().filter(|row| row[column] != Value::Null).count()))
            }
            None => Value::Number(Number::from(rows.len())),
            _ => Value::Null,
        };
        MeasureCounts {
            name: self.name.clone(),
            within: 0,
            outside: 0,
            passed: true,
            totals: tables.iter().map(total).collect(),
            largest: None,
        }
    }

    pub(super) fn of(&self, row: &Row) -> Value {
        row[self.column.expect("a column")].clone()
    }

    /// Turns the rows of a group into one value.
    pub(super) fn fold(&self, columns: &[Column], rows: &[&Row]) -> Value {
        let Some(column) = self.column else {
            return Value::Number(Number::from(rows.len()));
        };
        let values: Vec<&Value> =
            rows.iter().map(|row| &row[column]).filter(|value| **value != Value::Null).collect();
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
        .filter_map(|value| if let Value::Number(number) = value { Some(number) } else { None })
        .collect();
    if numbers.is_empty() {
        return Value::Null;
    }
    let has = |wanted: &Number| numbers.contains(&wanted);
    let finite = numbers
        .iter()
        .filter_map(|number| if let Number::Finite(ratio) = number { Some(ratio) } else { None });
    Value::Number(match (has(&Number::NaN), has(&Number::Infinity), has(&Number::MinusInfinity)) {
        (true, ..) | (_, true, true) => Number::NaN,
        (_, true, _) => Number::Infinity,
        (.., true) => Number::MinusInfinity,
        _ if float => Number::Finite(Ratio::sum_of_doubles(finite)),
        _ => Number::Finite(finite.fold(Ratio::zero(), |sum, ratio| sum.plus(ratio))),
    })
}
