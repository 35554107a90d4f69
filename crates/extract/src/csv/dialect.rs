//! The dialect of a CSV file, and its detection from the first records.

use memchr::{memchr, memchr2};

use crate::error::{Fault, Problem};
use crate::header::{self, RECORDS};

/// The candidates for a delimiter; of two that fit equally well the earlier wins, since a comma is also a decimal point.
pub(crate) const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];

/// How a CSV file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    pub delimiter: u8,
    pub quote: u8,
    /// The last byte of a record; a CR before an LF is not part of it, nor of the last field.
    pub terminator: u8,
}

/// One field, without its quotes.
#[derive(Debug)]
pub(super) struct Cell {
    pub text: Vec<u8>,
    pub at: usize,
    quoted: bool,
}

/// One record at the beginning of a file.
#[derive(Debug)]
pub(super) struct Record {
    pub cells: Vec<Cell>,
    pub start: usize,
    pub end: usize,
}

/// How well a dialect explains the first records; the greater the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    readable: bool,
    /// Of a thousand records, those with as many fields as the first; 0 when that has only one.
    alike: usize,
    fields: usize,
}

impl Dialect {
    /// Detects what is not given; `whole` says that the sample is the whole file.
    pub(super) fn detect(sample: &[u8], whole: bool, delimiter: Option<u8>, quote: Option<u8>) -> Self {
        let terminator =
            if memchr(b'\n', sample).is_none() && memchr(b'\r', sample).is_some() { b'\r' } else { b'\n' };
        let best = |quote: u8| {
            let mut best: Option<(Fit, usize, Self)> = None;
            for candidate in delimiter.map_or(DELIMITERS.to_vec(), |given| vec![given]) {
                let dialect = Self { delimiter: candidate, quote, terminator };
                let (fit, quoted) = dialect.fit(sample, whole, RECORDS);
                if best.as_ref().is_none_or(|(other, ..)| fit > *other) {
                    best = Some((fit, quoted, dialect));
                }
            }
            best
        };
        let fallback =
            Self { delimiter: delimiter.unwrap_or(b','), quote: quote.unwrap_or(b'"'), terminator };
        let settle = |fit: Fit, dialect: Self| {
            if fit.fields > 1 { dialect } else { Self { quote: dialect.quote, ..fallback } }
        };
        let Some((fit, quoted, dialect)) = best(fallback.quote) else {
            return fallback;
        };
        let dialect = settle(fit, dialect);
        // The other quote is tried only where the usual one explains nothing.
        let other = if quote.is_none() && (quoted == 0 || !fit.readable) { best(b'\'') } else { None };
        let other = other.map(|(fit, _, other)| settle(fit, other));
        other.filter(|other| other.is_proven(sample, whole, dialect)).unwrap_or(dialect)
    }

    /// The first record that is not a blank line, or `None` when the sample ends before it does.
    pub(super) fn first_record(self, sample: &[u8], whole: bool) -> Result<Option<Record>, Fault> {
        self.records(sample, whole).next().transpose()
    }

    /// Whether the first record names the columns.
    pub(super) fn has_header(self, sample: &[u8], whole: bool) -> bool {
        let records = self.records(sample, whole).take(RECORDS).map_while(Result::ok);
        let records: Vec<Record> = records.collect();
        header::is_first(&records.iter().map(Record::texts).collect::<Vec<_>>())
    }

    /// How well the first records fit, at most so many, and how many of their fields are quoted.
    fn fit(self, sample: &[u8], whole: bool, most: usize) -> (Fit, usize) {
        let (mut fields, mut records, mut alike, mut quoted, mut readable) = (0, 0, 0, 0, true);
        for record in self.records(sample, whole).take(most) {
            let Ok(record) = record else {
                readable = false;
                break;
            };
            fields = if records == 0 { record.cells.len() } else { fields };
            records += 1;
            alike += usize::from(record.cells.len() == fields);
            quoted += record.cells.iter().filter(|cell| cell.quoted).count();
        }
        let alike = if fields > 1 { alike * 1000 / records } else { 0 };
        (Fit { readable, alike, fields }, quoted)
    }

    /// Whether the sample shows that this quote is one, for an apostrophe is mostly just that: it must hold together what
    /// would fall apart, or be around all values of a column, and the usual dialect must not read the records better.
    fn is_proven(self, sample: &[u8], whole: bool, usual: Self) -> bool {
        if self.fit(sample, whole, usize::MAX).0.alike < usual.fit(sample, whole, usize::MAX).0.alike {
            return false;
        }
        let torn = usual.is_torn(sample, whole);
        let mut encloses = false;
        // How many values of each column are quoted; `None` once one is not.
        let mut columns: Vec<Option<usize>> = Vec::new();
        for (nth, record) in self.records(sample, whole).enumerate() {
            let Ok(record) = record else {
                return false;
            };
            columns.resize(columns.len().max(record.cells.len()), Some(0));
            for (cell, column) in record.cells.iter().zip(&mut columns) {
                if cell.is_double_quoted() {
                    return false;
                }
                let parts = |byte: &u8| [self.delimiter, b'\n', b'\r'].contains(byte);
                let needs_quotes = |byte: &u8| *byte == self.quote || (torn && parts(byte));
                encloses |= cell.quoted && cell.text.iter().any(needs_quotes);
                // Names may go without quotes where values have them.
                match column {
                    Some(count) if cell.quoted => *count += usize::from(!cell.text.is_empty()),
                    Some(_) if nth > 0 && !cell.text.is_empty() => *column = None,
                    _ => {}
                }
            }
        }
        encloses || columns.iter().flatten().any(|quoted| *quoted > 1)
    }

    /// Whether records differ in their number of fields, or cannot be read at all.
    fn is_torn(self, sample: &[u8], whole: bool) -> bool {
        let mut counts =
            self.records(sample, whole).map(|record| record.ok().map(|record| record.cells.len()));
        let first = counts.next().flatten();
        first.is_none() || counts.any(|count| count != first)
    }

    /// The records that are not blank lines, up to the first that is malformed or not all there.
    fn records(self, sample: &[u8], whole: bool) -> impl Iterator<Item = Result<Record, Fault>> {
        let mut start = Some(0);
        std::iter::from_fn(move || {
            loop {
                match self.record(sample, start?, whole) {
                    Err(fault) => {
                        start = None;
                        return Some(Err(fault));
                    }
                    Ok(record) => {
                        let record = record?;
                        start = Some(record.end);
                        if !record.is_blank() {
                            return Some(Ok(record));
                        }
                    }
                }
            }
        })
    }

    /// Where the record with this number starts in a text that ends with one; with a single column, blank lines are records.
    pub(super) fn start_of(self, text: &[u8], row: usize, columns: usize) -> Option<usize> {
        let mut start = 0;
        let mut rows = 0;
        // What is malformed has been refused when the text was read.
        while let Ok(Some(record)) = self.record(text, start, true) {
            let counts = columns == 1 || !record.is_blank();
            if counts && rows == row {
                return Some(record.start);
            }
            rows += usize::from(counts);
            start = record.end;
        }
        None
    }

    /// The record that starts there, or `None` when the sample ends before it does.
    pub(super) fn record(self, sample: &[u8], start: usize, whole: bool) -> Result<Option<Record>, Fault> {
        if start >= sample.len() {
            return Ok(None);
        }
        let mut cells = Vec::new();
        let mut at = start;
        loop {
            let quoted = sample.get(at) == Some(&self.quote);
            let read = if quoted { self.quoted(sample, at, whole)? } else { Some(self.plain(sample, at)) };
            let Some((text, end)) = read else {
                return Ok(None);
            };
            cells.push(Cell { text, at, quoted });
            match sample.get(end) {
                Some(&byte) if byte == self.delimiter => at = end + 1,
                Some(_) => {
                    return Ok(Some(Record { cells, start, end: end + 1 }));
                }
                None if whole => return Ok(Some(Record { cells, start, end })),
                None => return Ok(None),
            }
        }
    }

    /// An unquoted field, and where the byte is that ends it.
    fn plain(self, sample: &[u8], at: usize) -> (Vec<u8>, usize) {
        let end =
            memchr2(self.delimiter, self.terminator, &sample[at..]).map_or(sample.len(), |found| at + found);
        let mut text = &sample[at..end];
        if self.terminator == b'\n' && sample.get(end) != Some(&self.delimiter) {
            text = text.strip_suffix(b"\r").unwrap_or(text);
        }
        (text.to_vec(), end)
    }

    /// A quoted field, and where the byte is that ends it; `None` when the sample ends first.
    fn quoted(self, sample: &[u8], open: usize, whole: bool) -> Result<Option<(Vec<u8>, usize)>, Fault> {
        let mut text = Vec::new();
        let mut at = open + 1;
        loop {
            let Some(found) = memchr(self.quote, &sample[at..]) else {
                return if whole { Err(Fault::at(open, Problem::Unclosed)) } else { Ok(None) };
            };
            text.extend_from_slice(&sample[at..at + found]);
            let after = at + found + 1;
            match sample.get(after) {
                Some(&byte) if byte == self.quote => {
                    text.push(byte);
                    at = after + 1;
                }
                Some(&byte) if byte == self.delimiter || byte == self.terminator => {
                    return Ok(Some((text, after)));
                }
                Some(b'\r') if sample.get(after + 1).is_none_or(|&next| next == self.terminator) => {
                    return Ok(Some((text, after + 1)));
                }
                Some(_) => return Err(Fault::at(after, Problem::AfterQuote)),
                None => return Ok(Some((text, after))),
            }
        }
    }
}

impl Cell {
    /// Whether the usual quotes are around a field that is read with another quote.
    fn is_double_quoted(&self) -> bool {
        !self.quoted && matches!(&self.text[..], [b'"', .., b'"'])
    }
}

impl Record {
    fn texts(&self) -> Vec<&[u8]> {
        self.cells.iter().map(|cell| cell.text.as_slice()).collect()
    }

    fn is_blank(&self) -> bool {
        matches!(&self.cells[..], [cell] if cell.text.is_empty() && !cell.quoted)
    }
}
