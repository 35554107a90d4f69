//! Values as they were found, where comparing takes them for something else.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringViewArray};
use arrow_schema::DataType;

use crate::decode::{display_found, plain};
use crate::kind::{Kind, Physical};
use crate::plan::{Column, How, Plan};

/// The columns of a batch whose values are shown as they were found rather than in canonical form, by measure.
pub(crate) struct Found(Vec<Option<Values>>);

enum Values {
    Texts(StringViewArray),
    Typed(ArrayRef),
}

impl Found {
    /// Of a batch that has the given columns of the plan.
    pub(crate) fn new(plan: &Plan, source: usize, columns: &[usize], batch: &RecordBatch) -> Self {
        let found = |measure: &crate::plan::Measure| {
            let column = measure.column?;
            let planned = &plan.columns[column];
            let at = columns.iter().position(|read| *read == column)?;
            if !differs(planned, source, batch.column(at).data_type()) {
                return None;
            }
            let array = plain(batch.column(at)).ok()?;
            Some(match array.as_string_view_opt() {
                Some(texts) => Values::Texts(texts.clone()),
                None => Values::Typed(array),
            })
        };
        Self(plan.measures.iter().map(found).collect())
    }

    /// Appends what a row is shown as.
    pub(crate) fn write(&self, row: usize, out: &mut Vec<u8>) {
        for values in &self.0 {
            match values {
                Some(Values::Texts(texts)) if texts.is_valid(row) => write(texts.value(row), out),
                Some(Values::Typed(array)) if array.is_valid(row) => match display_found(array, row) {
                    Some(text) => write(&text, out),
                    None => out.push(0),
                },
                _ => out.push(0),
            }
        }
    }

    /// Reads what [`Found::write`] wrote.
    pub(crate) fn read(mut from: &[u8], measures: usize) -> impl Iterator<Item = Option<&str>> {
        let mut next = move || {
            let (has_text, rest) = from.split_first()?;
            from = rest;
            if *has_text == 0 {
                return None;
            }
            let (length, rest) = from.split_first_chunk()?;
            let (text, rest) = rest.split_at(u64::from_be_bytes(*length) as usize);
            from = rest;
            std::str::from_utf8(text).ok()
        };
        (0..measures).map(move |_| next())
    }
}

fn write(text: &str, out: &mut Vec<u8>) {
    out.push(1);
    out.extend((text.len() as u64).to_be_bytes());
    out.extend(text.as_bytes());
}

/// Whether it is of instants that are shown as the clocks of another zone than UTC show them.
fn has_own_clock(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp(_, Some(zone)) if !matches!(zone.as_ref(), "UTC" | "+00:00"))
}

/// Whether the canonical form of what is compared may be another than what was found.
fn differs(column: &Column, source: usize, data_type: &DataType) -> bool {
    let reader = &column.readers[source];
    match reader.how {
        How::Null => false,
        How::Text(_) | How::Displayed => !column.normalisers.is_empty(),
        How::TextNumber
        | How::TextBoolean
        | How::DeclaredBoolean
        | How::TextTemporal(_)
        | How::TextFormat(_) => true,
        How::Typed => match Physical::of(data_type) {
            Physical::Date => column.kind != Kind::Date,
            Physical::Decimal { scale } => scale > 0,
            Physical::Time { digits } => digits > column.second_digits,
            Physical::Timestamp { digits, .. } => {
                digits > column.second_digits || reader.zone.is_some() || has_own_clock(data_type)
            }
            _ => false,
        },
    }
}
