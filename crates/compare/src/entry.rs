//! A row that is decided by value: bytes that sort by key, then by values, then by source.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, StringViewArray};

use crate::decode::{Decoded, plain};
use crate::plan::{How, Plan};
use crate::value::{Value, read_sorted, skip_sorted, write_sorted};

/// A row that is decided by value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    bytes: Vec<u8>,
    key_end: usize,
    cells_end: usize,
}

/// The columns of a batch whose text is shown as it was found rather than in canonical form.
pub(crate) struct Raw(Vec<Option<StringViewArray>>);

impl Raw {
    /// Of a batch that has the given columns of the plan.
    pub(crate) fn new(plan: &Plan, source: usize, columns: &[usize], batch: &RecordBatch) -> Self {
        let raw = |measure: &crate::plan::Measure| {
            let column = measure.column?;
            let planned = &plan.columns[column];
            let differs = match planned.readers[source].how {
                How::Typed | How::Displayed | How::Null => false,
                How::Text(_) => !planned.normalisers.is_empty(),
                How::TextNumber
                | How::TextBoolean
                | How::DeclaredBoolean
                | How::TextTemporal(_)
                | How::TextFormat(_) => true,
            };
            let at = columns.iter().position(|read| *read == column).filter(|_| differs)?;
            let array = plain(batch.column(at)).ok()?;
            array.as_string_view_opt().cloned()
        };
        Self(plan.measures.iter().map(raw).collect())
    }
}

/// Writes the key of a row, unless it turns out to be larger than one given; says whether it did.
pub(crate) fn write_key_up_to(
    plan: &Plan,
    columns: &[Decoded],
    row: usize,
    largest: Option<&[u8]>,
    key: &mut Vec<u8>,
) -> bool {
    key.clear();
    for &part in &plan.key {
        let value = Value::at(&columns[part], row, plan.columns[part].encoding);
        write_sorted(value.as_ref(), key);
        if largest.is_some_and(|largest| key.as_slice() > &largest[..largest.len().min(key.len())]) {
            return false;
        }
    }
    true
}

/// Appends the key of a row.
pub(crate) fn write_key(plan: &Plan, columns: &[Decoded], row: usize, out: &mut Vec<u8>) {
    for &part in &plan.key {
        let value = Value::at(&columns[part], row, plan.columns[part].encoding);
        write_sorted(value.as_ref(), out);
    }
}

/// What a row's entry is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To be decided by its values.
    Decide = 0,
    /// To be decided, with words in place of long texts.
    DecideLean = 1,
    /// To be listed only: its record told all there is to count.
    List = 2,
}

/// A row as it was read again.
pub(crate) struct Row<'a> {
    pub(crate) source: usize,
    pub(crate) locator: u32,
    pub(crate) columns: &'a [Decoded],
    pub(crate) at: usize,
    /// Measures whose values were not read, and the words that stand for them.
    pub(crate) long: &'a [usize],
    pub(crate) words: &'a [Option<u64>],
}

/// Appends a row.
pub(crate) fn write_entry(plan: &Plan, purpose: Purpose, of: &Row<'_>, raw: &Raw, out: &mut Vec<u8>) {
    let Row { source, locator, columns, at: row, long, words } = *of;
    write_key(plan, columns, row, out);
    for (index, measure) in plan.measures.iter().enumerate() {
        let unread = long.iter().position(|long| *long == index).and_then(|at| words.get(at));
        let value = match unread {
            Some(word) => word.map(|word| Value::Bytes(word.to_le_bytes().to_vec())),
            None => measure
                .column
                .and_then(|column| Value::at(&columns[column], row, plan.columns[column].encoding)),
        };
        write_sorted(value.as_ref(), out);
    }
    out.extend((source as u32).to_be_bytes());
    out.push(purpose as u8);
    for raw in &raw.0 {
        match raw.as_ref().filter(|texts| texts.is_valid(row)) {
            None => out.push(0),
            Some(texts) => {
                let text = texts.value(row);
                out.push(1);
                out.extend((text.len() as u64).to_be_bytes());
                out.extend(text.as_bytes());
            }
        }
    }
    // Last, so that rows that are alike sort alike wherever they are.
    out.extend(locator.to_be_bytes());
}

impl Entry {
    pub(crate) fn new(plan: &Plan, bytes: Vec<u8>) -> Self {
        let mut rest = bytes.as_slice();
        plan.key.iter().for_each(|_| skip_sorted(&mut rest));
        let key_end = bytes.len() - rest.len();
        plan.measures.iter().for_each(|_| skip_sorted(&mut rest));
        let cells_end = bytes.len() - rest.len();
        Self { bytes, key_end, cells_end }
    }

    pub(crate) fn key(&self) -> &[u8] {
        &self.bytes[..self.key_end]
    }

    /// What is compared.
    pub(crate) fn cells(&self) -> &[u8] {
        &self.bytes[self.key_end..self.cells_end]
    }

    pub(crate) fn source(&self) -> usize {
        let bytes = &self.bytes[self.cells_end..];
        u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize
    }

    pub(crate) fn purpose(&self) -> Purpose {
        match self.bytes[self.cells_end + 4] {
            0 => Purpose::Decide,
            1 => Purpose::DecideLean,
            _ => Purpose::List,
        }
    }

    /// Where the row is in its source.
    pub(crate) fn locator(&self) -> u32 {
        self.bytes.last_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
    }

    /// Whether two rows of a source are alike to the letter.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let text = |entry: &Self| entry.bytes.len() - 4;
        self.bytes[..text(self)] == other.bytes[..text(other)]
    }

    /// The parts of the key.
    pub(crate) fn key_values(&self, plan: &Plan) -> Vec<Option<Value>> {
        Self::key_of(plan, self.key())
    }

    /// The parts of a key that [`write_key`] wrote.
    pub(crate) fn key_of(plan: &Plan, mut key: &[u8]) -> Vec<Option<Value>> {
        plan.key.iter().map(|_| read_sorted(&mut key)).collect()
    }

    /// The value of each measure.
    pub(crate) fn values(&self, plan: &Plan) -> Vec<Option<Value>> {
        let mut rest = self.cells();
        plan.measures.iter().map(|_| read_sorted(&mut rest)).collect()
    }

    /// The value of each measure as it was found, given what it is.
    pub(crate) fn shown(&self, plan: &Plan, values: &[Option<Value>]) -> Vec<Option<String>> {
        let mut rest = &self.bytes[self.cells_end + 5..];
        (plan.measures.iter().zip(values))
            .map(|(measure, value)| {
                let has_raw = rest[0] == 1;
                rest = &rest[1..];
                if has_raw {
                    let (length, after) = rest.split_at(8);
                    let length = length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
                    let (text, after) = after.split_at(length);
                    rest = after;
                    return Some(String::from_utf8_lossy(text).into_owned());
                }
                Some(value.as_ref()?.show(&plan.columns[measure.column?]))
            })
            .collect()
    }
}
