//! Reads the records of a chunk: 64 bytes at a time are searched for the bytes that matter, and only those are visited.

use std::ops::Range;

use arrow_buffer::BooleanBuffer;
use memchr::{memchr, memrchr};

use super::dialect::Dialect;
use crate::Empty;
use crate::column::{Columns, LANDMARK_ROWS};
use crate::error::{Fault, Problem};
use crate::text::{Chosen, Cut, PADDING, Records};

const BLOCK: usize = 64;

/// How much of a text's end is searched for the end of a record before the rest is.
const TAIL_BYTES: usize = 1 << 14;

/// Finds the end of the last whole record. Only quotes are visited, so that this, done by one thread at a time, is quick.
pub(super) fn cut(text: &[u8], dialect: Dialect) -> Cut {
    let tail = text.len().saturating_sub(TAIL_BYTES);
    match cut_in_tail(text, tail, dialect) {
        found @ Cut::At(_) => found,
        _ => cut_in_tail(text, 0, dialect),
    }
}

/// The same, with record ends looked for only between quotes one of which is in the text's tail.
fn cut_in_tail(text: &[u8], tail: usize, dialect: Dialect) -> Cut {
    let Dialect { delimiter, quote, terminator } = dialect;
    let mut end = 0;
    let mut opened = None;
    let mut outside = 0;
    let mut second = usize::MAX;
    for at in places_of(quote, text) {
        if at == second {
            continue;
        }
        if opened.is_some() {
            if text.get(at + 1) == Some(&quote) {
                second = at + 1;
            } else {
                opened = None;
                outside = at + 1;
            }
        } else if at == 0 || text[at - 1] == delimiter || text[at - 1] == terminator {
            opened = Some(at);
            if at >= tail {
                end = memrchr(terminator, &text[outside..at]).map_or(end, |found| outside + found + 1);
            }
        }
    }
    if opened.is_none() {
        end = memrchr(terminator, &text[outside..]).map_or(end, |found| outside + found + 1);
    }
    match (end, opened) {
        (0, Some(at)) => Cut::Unclosed(at),
        (0, None) => Cut::Nowhere,
        (end, _) => Cut::At(end),
    }
}

/// The places of a byte; sooner than `memchr` where there are many.
fn places_of(byte: u8, text: &[u8]) -> impl Iterator<Item = usize> {
    let first = memchr(byte, text).unwrap_or(text.len());
    let mut blocks = text[first..].chunks(BLOCK);
    let (mut base, mut next, mut marks) = (first, first, 0_u64);
    std::iter::from_fn(move || {
        while marks == 0 {
            let block = blocks.next()?;
            (base, next) = (next, next + BLOCK);
            marks = match block.first_chunk::<BLOCK>() {
                Some(block) => bits(block, |it| u8::from(it == byte)),
                None => block.iter().rev().fold(0, |marks, it| marks << 1 | u64::from(*it == byte)),
            };
        }
        let at = base + marks.trailing_zeros() as usize;
        marks &= marks - 1;
        Some(at)
    })
}

/// Reads the wanted records of a chunk.
pub(super) fn read(
    records: Records<'_>,
    dialect: Dialect,
    empty: Empty,
    columns: &mut Columns,
) -> Result<(), Fault> {
    let Records { text, len, only } = records;
    debug_assert!(text.len() >= len + PADDING, "a chunk is padded");
    let mut reader = Reader {
        text,
        dialect,
        only: only.map(|only| only.rows),
        expected: columns.fields(),
        columns,
        empty,
        row: 0,
        record: 0,
        field: 0,
        start: 0,
        wanted: true,
        quoted: Quoted::No,
        doubled: false,
        second: usize::MAX,
    };
    let quotes = memchr(dialect.quote, &text[..len]).is_some();
    let mut read = |first: usize, stretch: Range<usize>| {
        reader.start_at(first, stretch.start);
        if quotes { reader.read::<true>(stretch) } else { reader.read::<false>(stretch) }
    };
    let Some(Chosen { rows, landmarks }) = only else {
        return read(0, 0..len);
    };
    // Between landmarks without a chosen row there is nothing to read.
    let mut next = 0;
    for row in rows.set_indices() {
        let stretch = (row / LANDMARK_ROWS).min(landmarks.len());
        if stretch >= next {
            let start = stretch.checked_sub(1).map_or(0, |before| landmarks[before] as usize);
            let end = landmarks.get(stretch).map_or(len, |end| *end as usize);
            read(stretch * LANDMARK_ROWS, start..end)?;
            next = stretch + 1;
        }
    }
    Ok(())
}

/// Where the field in progress stands with respect to quotes.
#[derive(Clone, Copy)]
enum Quoted {
    No,
    Inside,
    /// The closing quote is there.
    Closed(usize),
}

struct Reader<'c, 'l> {
    text: &'c [u8],
    dialect: Dialect,
    only: Option<&'c BooleanBuffer>,
    columns: &'c mut Columns<'l>,
    expected: usize,
    empty: Empty,
    row: usize,
    /// Where the record in progress starts.
    record: usize,
    field: usize,
    /// Where the field in progress starts.
    start: usize,
    /// Whether the row in progress is wanted.
    wanted: bool,
    quoted: Quoted,
    /// Whether the field in progress has doubled quotes.
    doubled: bool,
    /// The second of two quotes, which has been dealt with.
    second: usize,
}

impl Reader<'_, '_> {
    /// Goes to where a row starts.
    fn start_at(&mut self, row: usize, start: usize) {
        (self.row, self.record, self.start, self.field) = (row, start, start, 0);
        self.wanted = self.only.is_none_or(|only| row < only.len() && only.value(row));
    }

    fn read<const QUOTES: bool>(&mut self, stretch: Range<usize>) -> Result<(), Fault> {
        let text = self.text;
        let Range { start: mut base, end: len } = stretch;
        while base < len {
            let Some(block) = text[base..].first_chunk::<BLOCK>() else {
                break;
            };
            let mut marks = marks::<QUOTES>(block, self.dialect);
            if len - base < BLOCK {
                marks &= (1 << (len - base)) - 1;
            }
            while marks != 0 {
                let at = base + marks.trailing_zeros() as usize;
                marks &= marks - 1;
                let byte = text[at];
                if QUOTES && !self.ends_field(at, byte)? {
                    continue;
                }
                if byte == self.dialect.terminator {
                    self.end_record::<QUOTES>(at)?;
                } else {
                    self.end_field::<QUOTES>(at);
                    self.start = at + 1;
                }
            }
            base += BLOCK;
        }
        if QUOTES && matches!(self.quoted, Quoted::Inside) {
            return Err(Fault::at(self.start, Problem::Unclosed));
        }
        Ok(())
    }

    /// Whether a byte that may end a field does, given the quotes.
    #[inline]
    fn ends_field(&mut self, at: usize, byte: u8) -> Result<bool, Fault> {
        let is_quote = byte == self.dialect.quote;
        match self.quoted {
            Quoted::No if !is_quote => return Ok(true),
            // A quote within an unquoted field is an ordinary character.
            Quoted::No => {
                if at == self.start {
                    self.quoted = Quoted::Inside;
                }
            }
            Quoted::Inside if !is_quote || at == self.second => {}
            Quoted::Inside if self.text[at + 1] == byte => {
                self.doubled = true;
                self.second = at + 1;
            }
            Quoted::Inside => self.quoted = Quoted::Closed(at),
            Quoted::Closed(close) => {
                let after = &self.text[close + 1..at];
                let line_end = after == b"\r" && byte == b'\n' && self.dialect.terminator == b'\n';
                if is_quote || !(after.is_empty() || line_end) {
                    return Err(Fault::at(close + 1, Problem::AfterQuote));
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    #[inline]
    fn end_field<const QUOTES: bool>(&mut self, at: usize) {
        if QUOTES && let Quoted::Closed(close) = self.quoted {
            if self.wanted {
                self.push_quoted(close);
            }
            self.quoted = Quoted::No;
            self.doubled = false;
        } else if self.wanted {
            if at == self.start && self.empty != Empty::Text {
                self.columns.push_null(self.field);
            } else {
                self.columns.push(self.field, self.text, self.start, at);
            }
        }
        self.field += 1;
    }

    fn push_quoted(&mut self, close: usize) {
        let (start, quote) = (self.start + 1, self.dialect.quote);
        if start == close && self.empty == Empty::Null {
            self.columns.push_null(self.field);
        } else if !self.doubled {
            self.columns.push(self.field, self.text, start, close);
        } else if self.columns.wants(self.field) {
            let mut value = &self.text[start..close];
            let undouble = |out: &mut Vec<u8>| {
                while let Some(at) = memchr(quote, value) {
                    out.extend_from_slice(&value[..=at]);
                    value = &value[at + 2..];
                }
                out.extend_from_slice(value);
            };
            self.columns.push_rewritten(self.field, undouble);
        }
    }

    #[inline]
    fn end_record<const QUOTES: bool>(&mut self, at: usize) -> Result<(), Fault> {
        let mut end = at;
        if self.dialect.terminator == b'\n' && end > self.start && self.text[end - 1] == b'\r' {
            end -= 1;
        }
        let blank = end == self.record && self.expected != 1;
        if !blank {
            self.end_field::<QUOTES>(end);
            if self.field != self.expected {
                return Err(self.ragged(end));
            }
            if self.wanted {
                self.columns.end_row(at + 1);
            }
            self.row += 1;
            if let Some(only) = self.only {
                self.wanted = self.row < only.len() && only.value(self.row);
            }
        }
        self.field = 0;
        self.start = at + 1;
        self.record = at + 1;
        Ok(())
    }

    /// What is wrong with a record of another length: its first field too many, or its end where more should follow.
    #[cold]
    fn ragged(&self, end: usize) -> Fault {
        let extra = match self.dialect.record(&self.text[..end], self.record, true) {
            Ok(Some(record)) => record.cells.get(self.expected).map(|cell| cell.at),
            _ => None,
        };
        let problem = Problem::Ragged { found: self.field, expected: self.expected };
        Fault::at(extra.unwrap_or(end), problem)
    }
}

/// Marks the bytes of a block that end fields and, if asked for, quotes.
#[inline]
fn marks<const QUOTES: bool>(block: &[u8; BLOCK], dialect: Dialect) -> u64 {
    bits(block, |byte| {
        let quote = u8::from(QUOTES) & u8::from(byte == dialect.quote);
        u8::from(byte == dialect.delimiter) | u8::from(byte == dialect.terminator) | quote
    })
}

/// Marks the bytes of a block that give 1: bit n stands for byte n.
///
/// The comparisons become vector instructions; the multiplication gathers the lowest bits of eight bytes in the top byte.
#[inline]
fn bits(block: &[u8; BLOCK], hit: impl Fn(u8) -> u8) -> u64 {
    let mut hits = [0; BLOCK];
    hits.iter_mut().zip(block).for_each(|(is_hit, byte)| *is_hit = hit(*byte));
    let (words, _) = hits.as_chunks::<8>();
    let gathered =
        words.iter().map(|word| (u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8);
    gathered.enumerate().fold(0, |marks, (nth, byte)| marks | u64::from(byte) << (8 * nth))
}
