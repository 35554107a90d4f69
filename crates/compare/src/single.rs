//! Single values, for whoever prepares tables: with the meaning that a comparison gives them.

use arrow_array::builder::StringViewBuilder;
use arrow_array::{Array, ArrayRef, StringViewArray};
use arrow_schema::DataType;

use crate::decode;
use crate::error::ValueProblem;
use crate::kind::{Kind, Physical};
use crate::number::Number;
use crate::text;

pub use crate::temporal::{Format, FormatError, Moment, TemporalKind, Zone, ZoneError};
pub use crate::temporal::{display, of_clock, year_first};

impl Kind {
    /// What a column of an Arrow type is by itself; text may still turn out to be something else.
    #[must_use]
    pub fn of(data_type: &DataType) -> Self {
        Physical::of(data_type).kind()
    }
}

/// Brings values into one of the few types that single values are read from.
///
/// # Errors
/// A value that does not fit it.
pub fn plain(array: &ArrayRef) -> Result<ArrayRef, ValueProblem> {
    decode::plain(array).map_err(problem)
}

/// The number at a row of a plain array that is not NULL; `None` if the array holds no numbers, or more than 38 digits.
#[must_use]
pub fn number(array: &ArrayRef, row: usize) -> Option<Number> {
    decode::number(array, row)
}

/// The date or time at a row of a plain array that is not NULL; `None` if the array holds none.
#[must_use]
pub fn moment(array: &ArrayRef, row: usize) -> Option<Moment> {
    decode::moment(array, row)
}

/// Typed values as text in their canonical form.
///
/// # Errors
/// A value that cannot be displayed.
pub fn displayed(array: &ArrayRef) -> Result<StringViewArray, ValueProblem> {
    let array =
        if matches!(array.data_type(), DataType::Decimal256(..)) { array.clone() } else { plain(array)? };
    let mut builder = StringViewBuilder::with_capacity(array.len());
    for row in 0..array.len() {
        if array.is_null(row) {
            builder.append_null();
        } else {
            builder.append_value(decode::display_one(&array, row).map_err(problem)?);
        }
    }
    Ok(builder.finish())
}

/// Reads `true` and `false` in any case, which is what text is inferred to be.
#[must_use]
pub fn boolean(text: &str) -> Option<bool> {
    text::boolean(text.as_bytes())
}

/// Reads a truth value where there is known to be one: also `t f yes no y n 1 0`, in any case.
#[must_use]
pub fn declared_boolean(text: &str) -> Option<bool> {
    text::declared_boolean(text.as_bytes())
}

fn problem(misfit: decode::Misfit) -> ValueProblem {
    match misfit {
        decode::Misfit::Value(problem) => problem,
        // Neither depends on a plan here, so neither comes up.
        decode::Misfit::Scale | decode::Misfit::Reading(_) => ValueProblem::TooLong,
    }
}
