//! Finds the value that is to blame when a column cannot be decoded; until then nobody has to keep count of rows.

use arrow_array::ArrayRef;
use arrow_cast::display::{ArrayFormatter, FormatOptions};

use super::{Misfit, decode};
use crate::plan::Column;
use crate::temporal::OrderEvidence;

/// How many characters of a value are shown.
const SHOWN: usize = 60;

/// The first row whose value no plan can make sense of, given that there is one, and what to call the value.
pub(crate) fn culprit(column: &Column, source: usize, array: &ArrayRef) -> (usize, String) {
    let (mut fits, mut fails) = (0, array.len());
    while fits + 1 < fails {
        let middle = usize::midpoint(fits, fails);
        let decoded = decode(column, source, &array.slice(0, middle), &mut OrderEvidence::default());
        if matches!(decoded, Err(Misfit::Value(_))) { fails = middle } else { fits = middle }
    }
    (fits, shown(array, fits))
}

/// A value as Arrow displays it, or its beginning.
pub(crate) fn shown(array: &ArrayRef, row: usize) -> String {
    let format = FormatOptions::new();
    let displayed = ArrayFormatter::try_new(array.as_ref(), &format)
        .and_then(|formatter| formatter.value(row).try_to_string())
        // What Arrow cannot display it has said already, in the error that this is for.
        .unwrap_or_else(|_| array.data_type().to_string());
    match displayed.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &displayed[..end]),
        None => displayed,
    }
}
