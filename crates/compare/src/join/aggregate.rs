//! Turns the rows of a group into one value per measure.

use crate::error::Error;
use crate::ingest::encode::{Shape, float_in, number_in, units_in};
use crate::ingest::record::{Carry, get_u128};
use crate::number::{Decimal, Number, Quantity};
use crate::plan::{Encoding, Fit, Plan};
use crate::spec::Aggregate;
use crate::spill::distinct::{Distinct, Room};
use crate::sum::{DecimalSum, FloatSum};
use crate::value::Value;

/// The measures of one group in one source, while its rows come in.
pub(crate) struct Aggregator<'a> {
    measures: Vec<Accumulator<'a>>,
    pub(crate) rows: u64,
}

struct Accumulator<'a> {
    aggregate: Aggregate,
    slot: Option<(usize, Carry)>,
    scale: u32,
    state: State<'a>,
}

/// Why a group has no values.
pub(crate) enum NoValues {
    /// A sum has no exact decimal of 38 digits.
    Overflow {
        measure: usize,
    },
    Failed(Error),
}

impl From<Error> for NoValues {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

enum State<'a> {
    Count(u64),
    Distinct(Distinct<'a, [u8; 16]>),
    DistinctValues(Distinct<'a, Vec<u8>>),
    Extreme(Option<Number>),
    FixedSum { units: i128, count: u64 },
    FloatSum { sum: Box<FloatSum>, count: u64 },
    DecimalSum { sum: Box<DecimalSum>, count: u64 },
}

impl<'a> Aggregator<'a> {
    /// For records of a shape or, without one, for values; each `count_distinct` has so much room.
    pub(crate) fn new(plan: &Plan, shape: Option<&Shape>, room: Room<'a>) -> Self {
        let measures = (plan.measures.iter().enumerate())
            .map(|(index, measure)| {
                let encoding = measure.column.map(|column| plan.columns[column].encoding);
                let scale = match encoding {
                    Some(Encoding::Fixed { scale }) => scale,
                    _ => 0,
                };
                let state = match (measure.aggregate, encoding) {
                    // Nothing is ever added to it.
                    _ if measure.fit == Fit::Uncomputed => State::Extreme(None),
                    (Aggregate::Count, _) => State::Count(0),
                    (Aggregate::CountDistinct, _) if shape.is_some() => State::Distinct(Distinct::new(room)),
                    (Aggregate::CountDistinct, _) => State::DistinctValues(Distinct::new(room)),
                    (Aggregate::Min | Aggregate::Max | Aggregate::Value, _) => State::Extreme(None),
                    (Aggregate::Sum | Aggregate::Avg, Some(Encoding::Fixed { .. })) => {
                        State::FixedSum { units: 0, count: 0 }
                    }
                    (Aggregate::Sum | Aggregate::Avg, Some(Encoding::Float)) => {
                        State::FloatSum { sum: Box::new(FloatSum::new()), count: 0 }
                    }
                    (Aggregate::Sum | Aggregate::Avg, _) => {
                        State::DecimalSum { sum: Box::new(DecimalSum::new()), count: 0 }
                    }
                };
                let slot = shape.and_then(|shape| shape.slot(index));
                Accumulator { aggregate: measure.aggregate, slot, scale, state }
            })
            .collect();
        Self { measures, rows: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.rows = 0;
        for measure in &mut self.measures {
            match &mut measure.state {
                State::Count(count) => *count = 0,
                State::Distinct(seen) => seen.clear(),
                State::DistinctValues(seen) => seen.clear(),
                State::Extreme(extreme) => *extreme = None,
                State::FixedSum { units, count } => (*units, *count) = (0, 0),
                State::FloatSum { sum, count } => {
                    sum.clear();
                    *count = 0;
                }
                State::DecimalSum { sum, count } => {
                    sum.clear();
                    *count = 0;
                }
            }
        }
    }

    /// Takes in a row by its record.
    pub(crate) fn add_record(&mut self, shape: &Shape, record: &[u32]) -> Result<(), Error> {
        self.rows += 1;
        for measure in &mut self.measures {
            let Some((slot, carry)) = measure.slot else {
                if let State::Count(count) = &mut measure.state {
                    *count += 1;
                }
                continue;
            };
            if shape.layout.is_null(record, slot) {
                continue;
            }
            let words = shape.layout.value(record, slot);
            match (&mut measure.state, carry) {
                (State::Count(count), _) => *count += 1,
                (State::Distinct(seen), _) => seen.insert(get_u128(words).to_ne_bytes())?,
                (State::FixedSum { units, count }, _) => {
                    *units += i128::from(units_in(words));
                    *count += 1;
                }
                (State::FloatSum { sum, count }, _) => {
                    sum.add(float_in(words));
                    *count += 1;
                }
                (state, Carry::Fixed) => {
                    let units = Decimal::new(i128::from(units_in(words)), -measure.scale.cast_signed());
                    // A machine word always fits a decimal.
                    add_number(state, measure.aggregate, units.map_or(Number::NaN, Number::Finite));
                }
                (state, Carry::Float) => {
                    add_number(state, measure.aggregate, Decimal::from_f64(float_in(words)));
                }
                (state, _) => add_number(state, measure.aggregate, number_in(words)),
            }
        }
        Ok(())
    }

    /// Takes in a row by the values of the measures' columns; `None` for NULL and for `count(*)`.
    pub(crate) fn add_values(&mut self, plan: &Plan, values: &[Option<Value>]) -> Result<(), Error> {
        self.rows += 1;
        for (index, measure) in self.measures.iter_mut().enumerate() {
            let starred = plan.measures[index].column.is_none();
            match (&mut measure.state, &values[index]) {
                (State::Count(count), value) => *count += u64::from(starred || value.is_some()),
                (_, None) => {}
                (State::DistinctValues(seen), value) => {
                    let mut bytes = Vec::new();
                    crate::value::write_sorted(value.as_ref(), &mut bytes);
                    seen.insert(bytes)?;
                }
                (State::FixedSum { units, count }, Some(Value::Number(Number::Finite(decimal)))) => {
                    let own = decimal.units(measure.scale);
                    *units += i128::from(own.expect("a column of a fixed scale has no other numbers"));
                    *count += 1;
                }
                (State::FloatSum { sum, count }, Some(Value::Number(number))) => {
                    sum.add(crate::value::to_f64(*number));
                    *count += 1;
                }
                (state, Some(Value::Number(number))) => add_number(state, measure.aggregate, *number),
                (_, Some(Value::Bytes(_))) => {}
            }
        }
        Ok(())
    }

    /// One value per measure, `None` for NULL; to be asked once, before it is cleared.
    pub(crate) fn values(&mut self) -> Result<Vec<Option<Quantity>>, NoValues> {
        let measures = self.measures.iter_mut().enumerate();
        measures.map(|(index, measure)| measure.value(|| NoValues::Overflow { measure: index })).collect()
    }
}

fn add_number(state: &mut State<'_>, aggregate: Aggregate, number: Number) {
    match state {
        State::Extreme(extreme) => {
            *extreme = Some(match *extreme {
                None => number,
                Some(known) if aggregate == Aggregate::Min => known.min(number),
                Some(known) => known.max(number),
            });
        }
        State::DecimalSum { sum, count } => {
            sum.add(number);
            *count += 1;
        }
        _ => {}
    }
}

impl Accumulator<'_> {
    fn value(&mut self, overflow: impl Fn() -> NoValues) -> Result<Option<Quantity>, NoValues> {
        let (sum, count) = match &mut self.state {
            State::Count(count) => return Ok(Some(Quantity::Number(Number::from(*count)))),
            State::Distinct(seen) => return Ok(Some(Quantity::Number(Number::from(seen.count()?)))),
            State::DistinctValues(seen) => return Ok(Some(Quantity::Number(Number::from(seen.count()?)))),
            State::Extreme(extreme) => return Ok(extreme.map(Quantity::Number)),
            State::FixedSum { count: 0, .. }
            | State::FloatSum { count: 0, .. }
            | State::DecimalSum { count: 0, .. } => {
                return Ok(None);
            }
            State::FixedSum { units, count } => {
                let sum = Decimal::new(*units, -self.scale.cast_signed()).ok_or_else(&overflow)?;
                (Number::Finite(sum), *count)
            }
            State::FloatSum { sum, count } => (Decimal::from_f64(sum.total()), *count),
            State::DecimalSum { sum, count } => (sum.total().map_err(|_| overflow())?, *count),
        };
        if self.aggregate == Aggregate::Avg {
            return Ok(Quantity::average(sum, count));
        }
        Ok(Some(Quantity::Number(sum)))
    }
}
