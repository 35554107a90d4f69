//! Whether an aggregate and a tolerance are for what their column is, and what becomes of a measure if not.

use super::Measure;
use super::column::{Column, Disagreement};
use crate::error::Error;
use crate::kind::Kind;
use crate::report::Finding;
use crate::spec::{Aggregate, Rule};

/// How a measure fares with what its column is in the sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It is what was asked for.
    Whole,
    /// The sources' kinds disagree, so that it is compared as text; it cannot pass.
    AsText,
    /// It cannot be computed, and is NULL in every source; it cannot pass.
    Uncomputed,
}

/// What is wrong with columns, in the order in which it was found.
#[derive(Default)]
pub(super) struct Faults(Vec<Fault>);

/// What is wrong with a column.
pub(super) struct Fault {
    column: String,
    fact: String,
    consequences: Vec<String>,
    hint: Option<&'static str>,
}

impl Faults {
    /// The fault of a column, which has this fact for a reason.
    pub(super) fn of(&mut self, column: &str, fact: String) -> &mut Fault {
        let known = self.0.iter().position(|fault| fault.column == column);
        let at = known.unwrap_or_else(|| {
            self.0.push(Fault { column: column.into(), fact, consequences: Vec::new(), hint: None });
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    /// The fault of a column whose kinds disagree.
    pub(super) fn of_kinds(&mut self, column: &str, disagreement: &Disagreement) -> &mut Fault {
        let fault = self.of(column, disagreement.kinds.clone());
        fault.hint = disagreement.hint;
        fault
    }

    pub(super) fn findings(self) -> Vec<Finding> {
        let finding = |fault: Fault| {
            let mut problem = fault.fact;
            if !fault.consequences.is_empty() {
                problem = format!("{problem}: {}", fault.consequences.join(", "));
            }
            if let Some(hint) = fault.hint {
                problem = format!("{problem}; {hint}");
            }
            Finding { column: fault.column, problem }
        };
        self.0.into_iter().map(finding).collect()
    }
}

impl Fault {
    pub(super) fn leads_to(&mut self, consequence: String) {
        if !self.consequences.contains(&consequence) {
            self.consequences.push(consequence);
        }
    }
}

/// The measure, if it is one for its column; if the sources' kinds disagree, what can be compared of it.
pub(super) fn fitted(measure: Measure, column: &Column, faults: &mut Faults) -> Result<Measure, Error> {
    let is_count = counts(measure.aggregate);
    let kind = if is_count { Kind::Number } else { column.kind };
    let is_computable = is_computable(measure.aggregate, column.kind);
    let is_tolerable = is_tolerable(&measure.rule, kind);
    let Some(disagreement) = &column.disagreement else {
        return match (is_computable, is_tolerable) {
            (true, true) => Ok(measure),
            (false, _) => Err(no_such_aggregate(&measure, column)),
            (true, false) => Err(no_such_distance(&measure, column, kind)),
        };
    };
    // Text that is only counted, or that normalisers declare to be text, may hold numbers here and words there.
    let may_drift = is_count || (is_tolerable && !column.normalisers.is_empty());
    if disagreement.is_drift && may_drift && is_computable {
        return Ok(measure);
    }
    let fault = faults.of_kinds(&column.name, disagreement);
    if !is_computable {
        return Ok(uncomputed(measure, fault));
    }
    fault.leads_to("compared as text".into());
    if is_tolerable {
        return Ok(Measure { fit: Fit::AsText, ..measure });
    }
    fault.leads_to(format!("the tolerance {} of {} cannot apply", measure.rule, measure.name));
    Ok(Measure { rule: Rule::Exact, fit: Fit::AsText, ..measure })
}

/// The measure as one that cannot be computed.
pub(super) fn uncomputed(measure: Measure, fault: &mut Fault) -> Measure {
    fault.leads_to(match measure.aggregate {
        Aggregate::Value => format!("the tolerance {} cannot apply", measure.rule),
        _ => format!("{} cannot be computed", measure.name),
    });
    Measure { column: None, rule: Rule::Exact, fit: Fit::Uncomputed, ..measure }
}

fn counts(aggregate: Aggregate) -> bool {
    matches!(aggregate, Aggregate::Count | Aggregate::CountDistinct)
}

fn is_computable(aggregate: Aggregate, kind: Kind) -> bool {
    match aggregate {
        Aggregate::Sum | Aggregate::Avg => matches!(kind, Kind::Number | Kind::Null),
        Aggregate::Min | Aggregate::Max => !matches!(kind, Kind::Text | Kind::Binary),
        Aggregate::Count | Aggregate::CountDistinct | Aggregate::Value => true,
    }
}

fn is_tolerable(rule: &Rule, kind: Kind) -> bool {
    match rule {
        Rule::Exact => true,
        Rule::Absolute(_) | Rule::Percentage { .. } => matches!(kind, Kind::Number | Kind::Null),
        Rule::Duration { .. } => kind.is_temporal() || kind == Kind::Null,
    }
}

fn no_such_aggregate(measure: &Measure, column: &Column) -> Error {
    let hint = match measure.aggregate {
        Aggregate::Sum | Aggregate::Avg => {
            "sum and avg are for numbers; see the column's types in the sources"
        }
        _ => "min and max are for numbers, booleans, dates and times",
    };
    unfit(format!("{} cannot be computed", measure.name), &column.name, column.kind, hint.into())
}

fn no_such_distance(measure: &Measure, column: &Column, kind: Kind) -> Error {
    let name = &measure.name;
    let hint = match (&measure.rule, kind) {
        (Rule::Duration { .. }, Kind::Number) => {
            format!("a duration is for dates and times; for numbers write {name}=1")
        }
        (Rule::Duration { .. }, _) => "a duration is for dates and times".to_string(),
        (Rule::Percentage { .. }, kind) if kind.is_temporal() => {
            format!("a percentage is for numbers; for dates and times write how long, as {name}=2d")
        }
        (Rule::Absolute(value), kind) if kind.is_temporal() => {
            format!("for {value} days write {name}={value}d")
        }
        _ => "a tolerance is for numbers, dates and times; text is exact, with normalisers".to_string(),
    };
    // A count is a number of its own, whatever it counts.
    let compared = if counts(measure.aggregate) { name } else { &column.name };
    unfit(format!("the tolerance of {name} does not fit"), compared, kind, hint)
}

fn unfit(what: String, column: &str, kind: Kind, hint: String) -> Error {
    Error::Unfit { what, column: column.to_owned(), kind: kind.name(), hint }
}
