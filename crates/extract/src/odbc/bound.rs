//! Values as they are bound: as what they are, and dates and times as what the database expects in their places.

use odbc_api::handles::AsStatementRef;
use odbc_api::parameter::{InputParameter, VarWCharBox, WithDataType};
use odbc_api::{Bit, DataType, Prepared};

use crate::database::Value;

/// All values, in the order of their places.
pub(super) fn all(
    values: &[Value],
    statement: &mut Prepared<impl AsStatementRef>,
) -> Vec<Box<dyn InputParameter>> {
    let mut bound: Vec<Box<dyn InputParameter>> = Vec::with_capacity(values.len());
    for (number, value) in (1..).zip(values) {
        bound.push(match value {
            Value::Integer(number) => Box::new(*number),
            Value::Boolean(flag) => Box::new(Bit::from_bool(*flag)),
            Value::Decimal(numeral) => {
                Box::new(WithDataType::new(VarWCharBox::from_str_slice(numeral), decimal(numeral)))
            }
            Value::Text(text) => match moment(number, statement) {
                Some(kind) => Box::new(WithDataType::new(VarWCharBox::from_str_slice(&spaced(text)), kind)),
                None => Box::new(VarWCharBox::from_str_slice(text)),
            },
        });
    }
    bound
}

/// The type of a numeral that has all its digits.
fn decimal(numeral: &str) -> DataType {
    let digits = numeral.bytes().filter(u8::is_ascii_digit).count();
    let scale = numeral.split_once('.').map_or(0, |(_, behind)| behind.len());
    DataType::Decimal { precision: digits, scale: i16::try_from(scale).unwrap_or(i16::MAX) }
}

/// The type that is expected in a place, if it is a date or a time, and the driver can tell.
fn moment(number: u16, statement: &mut Prepared<impl AsStatementRef>) -> Option<DataType> {
    let expected = statement.describe_param(number).ok()?.data_type;
    matches!(expected, DataType::Date | DataType::Time { .. } | DataType::Timestamp { .. })
        .then_some(expected)
}

/// A moment as ODBC writes it: ISO 8601 has a letter between date and time.
fn spaced(text: &str) -> String {
    text.replacen('T', " ", 1)
}
