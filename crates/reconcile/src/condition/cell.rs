//! Single values while a condition is decided.

use std::borrow::Cow;
use std::cmp::Ordering;

use trueup_compare::Number;
use trueup_compare::single::Moment;
use trueup_job::Relation;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Cell<'a> {
    Null,
    Truth(bool),
    Number(Number),
    Moment(Moment),
    Text(Cow<'a, str>),
}

impl Cell<'_> {
    /// How two values of the same kind stand to each other; not known if one is NULL.
    pub(crate) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Cell::Truth(a), Cell::Truth(b)) => Some(a.cmp(b)),
            (Cell::Number(a), Cell::Number(b)) => Some(a.cmp(b)),
            (Cell::Moment(a), Cell::Moment(b)) => Some(a.cmp(b)),
            (Cell::Text(a), Cell::Text(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
            _ => None,
        }
    }

    /// What a condition comes to: true, false or not known.
    pub(crate) fn truth(&self) -> Option<bool> {
        match self {
            Cell::Truth(truth) => Some(*truth),
            _ => None,
        }
    }
}

/// A truth value, which may be unknown.
impl From<Option<bool>> for Cell<'_> {
    fn from(truth: Option<bool>) -> Self {
        truth.map_or(Cell::Null, Cell::Truth)
    }
}

/// Whether values in this order stand in a relation.
pub(crate) fn holds(relation: Relation, order: Ordering) -> bool {
    match relation {
        Relation::Equal => order.is_eq(),
        Relation::Different => order.is_ne(),
        Relation::Less => order.is_lt(),
        Relation::AtMost => order.is_le(),
        Relation::Greater => order.is_gt(),
        Relation::AtLeast => order.is_ge(),
    }
}
