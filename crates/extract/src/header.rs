//! Whether the first record of a text or a sheet names the columns.

/// How many records a header, and the dialect of a text, are judged by.
pub(crate) const RECORDS: usize = 100;

/// What a column has below the first record.
#[derive(Debug, Default)]
struct Below {
    numbers: bool,
    /// What is neither empty nor a number.
    others: bool,
}

/// Whether the first record names the columns. It does not when numbers in it go on below, unless another column has
/// numbers only below: years may be names, and then stand beside others.
pub(crate) fn is_first(records: &[Vec<&[u8]>]) -> bool {
    let Some((first, rest)) = records.split_first() else {
        return true;
    };
    let mut columns: Vec<Below> = first.iter().map(|_| Below::default()).collect();
    for record in rest {
        for (cell, below) in record.iter().zip(&mut columns) {
            let is_number = is_number(cell);
            below.numbers |= is_number;
            below.others |= !is_number && !cell.is_empty();
        }
    }
    let (mut goes_on, mut is_named) = (false, false);
    for (cell, below) in first.iter().zip(&columns) {
        if is_number(cell) {
            goes_on |= below.numbers && !below.others;
        } else {
            is_named |= below.numbers;
        }
    }
    is_named || !goes_on
}

/// Whether a field is a numeral, with a point or a comma before its decimals.
fn is_number(field: &[u8]) -> bool {
    let numeral = std::str::from_utf8(field).map(|text| text.trim().replace(',', "."));
    // Of what parses, only words such as `inf` are without a digit.
    numeral.is_ok_and(|text| text.bytes().any(|byte| byte.is_ascii_digit()) && text.parse::<f64>().is_ok())
}
