//! A row that is decided by value: bytes that sort by key, then by values, then by source.

use std::borrow::Cow;

use crate::decode::Decoded;
use crate::plan::{Encoding, Plan};
use crate::reread::found::Found;
use crate::value::{Value, read_cell, take_cell, write_bytes, write_cell};

/// A row that is decided by value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    bytes: Cow<'a, [u8]>,
    key_end: usize,
    cells_end: usize,
}

/// Behind the texts: where the key and the cells end, and where the row is in its source.
const TAIL: usize = 12;

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
        write_cell(&columns[part], row, key);
        if largest.is_some_and(|largest| key.as_slice() > &largest[..largest.len().min(key.len())]) {
            return false;
        }
    }
    true
}

/// Appends the key of a row.
pub(crate) fn write_key(plan: &Plan, columns: &[Decoded], row: usize, out: &mut Vec<u8>) {
    plan.key.iter().for_each(|part| write_cell(&columns[*part], row, out));
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
pub(crate) fn write_entry(plan: &Plan, purpose: Purpose, of: &Row<'_>, found: &Found, out: &mut Vec<u8>) {
    let Row { source, locator, columns, at: row, long, words } = *of;
    let start = out.len();
    write_key(plan, columns, row, out);
    let key_end = out.len() - start;
    for (index, measure) in plan.measures.iter().enumerate() {
        let unread = long.iter().position(|long| *long == index).and_then(|at| words.get(at));
        match (unread, measure.column) {
            (Some(Some(word)), _) => write_bytes(&word.to_le_bytes(), out),
            (None, Some(column)) => write_cell(&columns[column], row, out),
            (Some(None), _) | (None, None) => out.push(0),
        }
    }
    let cells_end = out.len() - start;
    out.extend((source as u32).to_be_bytes());
    out.push(purpose as u8);
    found.write(row, out);
    out.extend((key_end as u32).to_be_bytes());
    out.extend((cells_end as u32).to_be_bytes());
    // Last, so that rows that are alike sort alike wherever they are.
    out.extend(locator.to_be_bytes());
}

impl<'a> Entry<'a> {
    pub(crate) fn new(bytes: Cow<'a, [u8]>) -> Self {
        let tail = bytes.len() - TAIL;
        let end = |at: usize| bytes[at..].first_chunk().map_or(0, |end| u32::from_be_bytes(*end) as usize);
        Self { key_end: end(tail), cells_end: end(tail + 4), bytes }
    }

    /// With bytes of its own.
    pub(crate) fn into_owned(self) -> Entry<'static> {
        Entry { bytes: Cow::Owned(self.bytes.into_owned()), ..self }
    }

    /// What it was made of.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
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
    pub(crate) fn is_same(&self, other: &Entry<'_>) -> bool {
        let text = |entry: &Entry<'_>| entry.bytes.len() - 4;
        self.bytes[..text(self)] == other.bytes[..text(other)]
    }

    /// The parts of the key.
    pub(crate) fn key_values(&self, plan: &Plan) -> Vec<Option<Value>> {
        Self::key_of(plan, self.key())
    }

    /// The parts of a key that [`write_key`] wrote.
    pub(crate) fn key_of(plan: &Plan, mut key: &[u8]) -> Vec<Option<Value>> {
        let read = |part: &usize| read_cell(take_cell(&mut key), plan.columns[*part].encoding);
        plan.key.iter().map(read).collect()
    }

    /// The name of the group that a key stands for: `account=A-17 ccy=EUR`.
    pub(crate) fn group_of(plan: &Plan, key: &[u8]) -> String {
        let parts = plan.key.iter().zip(Self::key_of(plan, key)).map(|(part, value)| {
            let column = &plan.columns[*part];
            let value = value.map_or("NULL".into(), |value| value.show(column));
            format!("{}={value}", column.name)
        });
        parts.collect::<Vec<_>>().join(" ")
    }

    /// What is compared, by measure; cells are equal if their bytes are.
    pub(crate) fn by_measure(&self, plan: &Plan) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.cells();
        plan.measures.iter().map(move |_| take_cell(&mut rest))
    }

    /// The value of each measure.
    pub(crate) fn values(&self, plan: &Plan) -> Vec<Option<Value>> {
        let cells = self.by_measure(plan).enumerate();
        cells.map(|(measure, cell)| measured(plan, measure, cell)).collect()
    }

    /// The value of each measure as reports show it.
    pub(crate) fn shown(&self, plan: &Plan) -> Vec<Option<String>> {
        let found = self.found(plan).zip(self.values(plan)).zip(&plan.measures);
        found
            .map(|((found, value), measure)| {
                let canonical = || Some(value?.show(&plan.columns[measure.column?]));
                found.map(str::to_owned).or_else(canonical)
            })
            .collect()
    }

    /// The texts that are shown in place of values, by measure.
    pub(crate) fn found(&self, plan: &Plan) -> impl Iterator<Item = Option<&str>> {
        Found::read(&self.bytes[self.cells_end + 5..], plan.measures.len())
    }
}

/// The value that a cell of a measure holds.
pub(crate) fn measured(plan: &Plan, measure: usize, cell: &[u8]) -> Option<Value> {
    let column = plan.measures[measure].column;
    read_cell(cell, column.map_or(Encoding::General, |column| plan.columns[column].encoding))
}
