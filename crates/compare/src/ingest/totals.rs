//! Control totals: the exact sum of each number column over all rows of a source.

use arrow_buffer::NullBuffer;

use crate::decode::{Decoded, Values};
use crate::kind::Kind;
use crate::number::{Decimal, Number};
use crate::plan::{Encoding, Plan};
use crate::spec::Aggregate;
use crate::sum::{DecimalSum, FloatSum, Overflow};

/// The sums of the number columns of one source.
pub(crate) struct Totals {
    /// Per column of the plan; `None` where a sum makes no sense.
    sums: Vec<Option<Sum>>,
    /// Values that are not NULL, per column.
    present: Vec<u64>,
}

enum Sum {
    Fixed { units: i128, scale: u32 },
    Float(Box<FloatSum>),
    General(Box<DecimalSum>),
}

impl Totals {
    pub(crate) fn new(plan: &Plan) -> Self {
        let wanted = |column: usize| {
            plan.columns[column].kind == Kind::Number
                && plan.measures.iter().any(|measure| {
                    measure.column == Some(column)
                        && matches!(measure.aggregate, Aggregate::Value | Aggregate::Sum | Aggregate::Avg)
                })
        };
        let sum = |column: usize| match plan.columns[column].encoding {
            Encoding::Fixed { scale } => Sum::Fixed { units: 0, scale },
            Encoding::Float => Sum::Float(Box::default()),
            Encoding::General | Encoding::Bytes => Sum::General(Box::default()),
        };
        Self {
            present: vec![0; plan.columns.len()],
            sums: (0..plan.columns.len()).map(|column| wanted(column).then(|| sum(column))).collect(),
        }
    }

    /// Adds the rows of a batch.
    pub(crate) fn add(&mut self, columns: &[Decoded]) {
        for ((sum, present_values), decoded) in self.sums.iter_mut().zip(&mut self.present).zip(columns) {
            let nulls = decoded.nulls.as_ref();
            *present_values += decoded.present() as u64;
            match (sum, &decoded.values) {
                (Some(Sum::Fixed { units, .. }), Values::Fixed(values)) => {
                    *units += present(values, nulls).map(|value| i128::from(*value)).sum::<i128>();
                }
                (Some(Sum::Float(sum)), Values::Float(values)) => {
                    present(values, nulls).for_each(|value| sum.add(*value));
                }
                (Some(Sum::General(sum)), Values::General(values)) => {
                    present(values, nulls).for_each(|value| sum.add(*value));
                }
                _ => {}
            }
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.present.iter_mut().zip(&other.present).for_each(|(count, more)| *count += more);
        for (sum, other) in self.sums.iter_mut().zip(&other.sums) {
            match (sum, other) {
                (Some(Sum::Fixed { units, .. }), Some(Sum::Fixed { units: more, .. })) => *units += more,
                (Some(Sum::Float(sum)), Some(Sum::Float(more))) => sum.merge(more),
                (Some(Sum::General(sum)), Some(Sum::General(more))) => sum.merge(more),
                _ => {}
            }
        }
    }

    /// Whether the column is summed up.
    pub(crate) fn sums(&self, column: usize) -> bool {
        self.sums[column].is_some()
    }

    /// How many values of a column are not NULL.
    pub(crate) fn present(&self, column: usize) -> u64 {
        self.present[column]
    }

    /// The sum of a column; `None` of nothing but NULLs.
    pub(crate) fn total(&self, column: usize) -> Option<Result<Number, Overflow>> {
        Some(match self.sums[column].as_ref().filter(|_| self.present[column] > 0)? {
            Sum::Fixed { units, scale } => {
                Decimal::new(*units, -scale.cast_signed()).map(Number::Finite).ok_or(Overflow)
            }
            Sum::Float(sum) => Ok(Decimal::from_f64(sum.total())),
            Sum::General(sum) => sum.total(),
        })
    }
}

fn present<'a, T>(values: &'a [T], nulls: Option<&'a NullBuffer>) -> impl Iterator<Item = &'a T> {
    let is_present = move |row: usize| nulls.is_none_or(|nulls| nulls.is_valid(row));
    values.iter().enumerate().filter(move |(row, _)| is_present(*row)).map(|(_, value)| value)
}
