//! What one value of a text column could be by itself.

use super::{boolean, is_numeral, special_number};
use crate::temporal::{Orders, Sighting, TemporalKind};

/// What a value could be, were it alone in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// A number; `NaN` and infinities, too.
    Number,
    Boolean,
    /// A date, timestamp or instant, in any of these orders.
    Temporal {
        separator: u8,
        kind: TemporalKind,
        orders: Orders,
    },
    /// Nothing but text.
    Text,
}

impl Likeness {
    pub(crate) fn of(value: &[u8]) -> Self {
        if is_numeral(value) || special_number(value).is_some() {
            Self::Number
        } else if boolean(value).is_some() {
            Self::Boolean
        } else if let Some(Sighting { separator, kind, orders }) = Sighting::of(value) {
            Self::Temporal { separator, kind, orders }
        } else {
            Self::Text
        }
    }

    /// What a whole column of such values could be: nothing for text, and one for each order of a date.
    pub(crate) fn alone(self) -> impl Iterator<Item = Self> {
        let (plain, orders) = match self {
            Self::Temporal { orders, .. } => (None, Some(orders)),
            Self::Text => (None, None),
            plain => (Some(plain), None),
        };
        let orders = orders.into_iter().flat_map(Orders::each);
        plain.into_iter().chain(orders.map(move |orders| match self {
            Self::Temporal { separator, kind, .. } => Self::Temporal { separator, kind, orders },
            other => other,
        }))
    }

    /// Whether values of both can be in one column.
    pub(crate) fn agrees(self, other: Self) -> bool {
        match (self, other) {
            (
                Self::Temporal { separator, kind, orders },
                Self::Temporal { separator: other_separator, kind: other_kind, orders: other_orders },
            ) => {
                separator == other_separator
                    && kind.widened(other_kind).is_some()
                    && orders.common(other_orders).provisional().is_some()
            }
            _ => self == other,
        }
    }
}
