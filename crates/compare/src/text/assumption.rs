//! What all values of a text column can be read as.

use super::{boolean, is_numeral, special_number};
use crate::temporal::{Orders, Shape, Sighting};

/// What the values of a text column could all be read as so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Of any kind: there was no value yet.
    Empty,
    /// Only `NaN` and infinities so far: text, unless a numeral follows.
    NonFinite,
    /// Numbers, at least one of them a numeral.
    Number,
    /// `true` and `false`.
    Boolean,
    /// Dates, timestamps or instants.
    Temporal(Shape),
    /// Nothing but text.
    Text,
}

impl Reading {
    /// Whether a value leaves the reading as it is; otherwise [`Assumption::observe`] finds the next one.
    #[inline]
    #[must_use]
    pub(crate) fn allows(self, value: &[u8]) -> bool {
        match self {
            Self::Empty => false,
            Self::NonFinite => special_number(value).is_some(),
            Self::Number => is_numeral(value) || special_number(value).is_some(),
            Self::Boolean => boolean(value).is_some(),
            Self::Temporal(shape) => shape.parse(value).is_some(),
            Self::Text => true,
        }
    }
}

/// Watches the values of a text column and narrows what it can be.
///
/// Only the first values and those that a reading did not allow need to be observed: when the reading at the end
/// allows every value of the column, it is the one that observing all of them in any order would have given. Only
/// the order of day and month then still needs [`crate::temporal::OrderEvidence`] from all values.
#[derive(Clone, Debug)]
pub(crate) struct Assumption {
    reading: Reading,
    orders: Option<Orders>,
}

impl Default for Assumption {
    fn default() -> Self {
        Self::new()
    }
}

impl Assumption {
    /// Starts without a value seen.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self { reading: Reading::Empty, orders: None }
    }

    /// Takes a value into account; NULLs are not to be shown.
    pub(crate) fn observe(&mut self, value: &[u8]) {
        self.reading = match self.reading {
            Reading::Empty => self.first(value),
            Reading::NonFinite if is_numeral(value) => Reading::Number,
            Reading::Temporal(shape) => self.reshape(shape, value),
            reading if reading.allows(value) => reading,
            _ => Reading::Text,
        };
    }

    /// What the values seen can be read as.
    #[must_use]
    pub(crate) fn reading(&self) -> Reading {
        self.reading
    }

    fn first(&mut self, value: &[u8]) -> Reading {
        if is_numeral(value) {
            Reading::Number
        } else if special_number(value).is_some() {
            Reading::NonFinite
        } else if boolean(value).is_some() {
            Reading::Boolean
        } else {
            self.first_date(value).unwrap_or(Reading::Text)
        }
    }

    fn first_date(&mut self, value: &[u8]) -> Option<Reading> {
        let Sighting { separator, kind, orders } = Sighting::of(value)?;
        self.orders = Some(orders);
        let order = orders.provisional()?;
        Some(Reading::Temporal(Shape { order, separator, kind }))
    }

    fn reshape(&mut self, shape: Shape, value: &[u8]) -> Reading {
        self.widened(shape, value).map_or(Reading::Text, Reading::Temporal)
    }

    fn widened(&mut self, shape: Shape, value: &[u8]) -> Option<Shape> {
        let sighting = Sighting::of(value).filter(|sighting| sighting.separator == shape.separator)?;
        let kind = shape.kind.widened(sighting.kind)?;
        let orders = self.orders.map_or(sighting.orders, |orders| orders.common(sighting.orders));
        self.orders = Some(orders);
        Some(Shape { order: orders.provisional()?, kind, ..shape })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temporal::Order::{DayFirst, MonthFirst, YearFirst};
    use crate::temporal::TemporalKind::{Date, Instant, Timestamp};
    use crate::temporal::{Order, OrderEvidence, TemporalKind};

    const fn temporal(order: Order, separator: u8, kind: TemporalKind) -> Reading {
        Reading::Temporal(Shape { order, separator, kind })
    }

    /// The values of a column, what it can be read as, and whether the order of its dates is proven.
    const COLUMNS: &[(&[&str], Reading, bool)] = &[
        (&[], Reading::Empty, true),
        (&["1", "2.5", "-3e4"], Reading::Number, true),
        (&["1", "NaN", "-inf"], Reading::Number, true),
        (&["NaN", "Infinity", "0"], Reading::Number, true),
        (&["NaN", "inf"], Reading::NonFinite, true),
        (&["NaN", "true"], Reading::Text, true),
        (&["1", "007"], Reading::Text, true),
        (&["007"], Reading::Text, true),
        (&["+1"], Reading::Text, true),
        (&["1", ""], Reading::Text, true),
        (&["1", "true"], Reading::Text, true),
        (&["true", "False", "TRUE"], Reading::Boolean, true),
        (&["true", "0"], Reading::Text, true),
        (&["yes", "no"], Reading::Text, true),
        (&["abc", "1"], Reading::Text, true),
        (&["2024-03-01", "2024-3-2"], temporal(YearFirst, b'-', Date), true),
        (&["2024-03-01", "2024/03/02"], Reading::Text, true),
        (&["2024-03-01", "01-03-2024"], Reading::Text, true),
        (&["2024-03-01", "2024-02-30"], Reading::Text, true),
        (&["2024-03-01", "20240301"], Reading::Text, true),
        (&["2024-03-01", "2024-03-02T10:00"], temporal(YearFirst, b'-', Timestamp), true),
        (&["2024-03-01 10:00:00", "2024-03-02 9:00 PM"], temporal(YearFirst, b'-', Timestamp), true),
        (&["2024-03-01T10:00Z", "2024-03-02T10:00:00.5+01:00"], temporal(YearFirst, b'-', Instant), true),
        (&["2024-03-01T10:00Z", "2024-03-02T10:00"], Reading::Text, true),
        (&["2024-03-01T10:00Z", "2024-03-02"], Reading::Text, true),
        (&["01/02/2024", "12/11/2024"], temporal(DayFirst, b'/', Date), false),
        (&["01/02/2024", "31/12/2024"], temporal(DayFirst, b'/', Date), true),
        (&["01/02/2024", "12/31/2024"], temporal(MonthFirst, b'/', Date), true),
        (&["31/12/2024", "12/31/2024"], Reading::Text, true),
        (&["01/02/2024", "31/12/2024", "12/31/2024"], Reading::Text, true),
        (&["01/02/2024", "1/31/2024 1:00 AM", "2/1/2024"], temporal(MonthFirst, b'/', Timestamp), true),
        (&["01.02.2024", "31.02.2024"], Reading::Text, true),
        (&["01.02.2024", "01/02/2024"], Reading::Text, true),
        (&["01.02.2024", "1.02"], Reading::Text, true),
    ];

    fn rotations(values: &[&'static str]) -> impl Iterator<Item = Vec<&'static str>> {
        (0..values.len().max(1)).map(|first| {
            let mut rotated = values.to_vec();
            rotated.rotate_left(first);
            rotated
        })
    }

    #[test]
    fn columns_are_read_as_what_all_values_allow_in_any_order() {
        for (values, expected, _) in COLUMNS {
            for values in rotations(values) {
                let mut assumption = Assumption::new();
                for value in &values {
                    assumption.observe(value.as_bytes());
                }
                assert_eq!(assumption.reading(), *expected, "{values:?}");
            }
        }
    }

    /// Observes only values that the reading does not allow and then starts over, as a comparison does.
    fn read_with_restarts(values: &[&str]) -> (Reading, OrderEvidence) {
        let mut assumption = Assumption::new();
        'start: loop {
            let mut evidence = OrderEvidence::default();
            for value in values {
                let reading = assumption.reading();
                if !reading.allows(value.as_bytes()) {
                    assumption.observe(value.as_bytes());
                    assert_ne!(assumption.reading(), reading, "{value:?} changed nothing");
                    continue 'start;
                }
                if let Reading::Temporal(shape) = reading {
                    assert!(shape.parse_noting(value.as_bytes(), &mut evidence).is_some());
                }
            }
            return (assumption.reading(), evidence);
        }
    }

    #[test]
    fn starting_over_with_what_disproves_ends_where_observing_all_does() {
        for (values, expected, proven) in COLUMNS {
            for values in rotations(values) {
                let (reading, evidence) = read_with_restarts(&values);
                assert_eq!(reading, *expected, "{values:?}");
                if let Reading::Temporal(shape) = reading {
                    assert_eq!(evidence.proves(shape), *proven, "{values:?}");
                }
            }
        }
    }
}
