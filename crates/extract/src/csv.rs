//! Text with delimiters: the dialect is detected, the records are read in parallel.
//!
//! A line without a single byte is skipped, except in a file of one column, where it is a row like any other (NULL, unless
//! [`Empty::Text`](crate::Empty::Text) is set): a column of values some of which are missing would lose them otherwise.

mod dialect;
mod parse;

use std::io::Read;

use arrow_schema::{DataType, Field};

use crate::column::Columns;
use crate::error::{Error, Fault, Problem};
use crate::format::Format;
use crate::input::Input;
use crate::text::{Cut, Grammar, Records, Shape, Text, TextFile};
use crate::{Empty, Options};
pub(crate) use dialect::DELIMITERS;
use dialect::{Dialect, Record};

/// How much of a file the dialect is detected from; a longer first record makes it more.
const SAMPLE_BYTES: usize = 1 << 16;

/// How long the first record may be.
const HEADER_LIMIT: usize = 16 << 20;

/// Reads records of one dialect.
pub(crate) struct Csv {
    dialect: Dialect,
    empty: Empty,
}

impl Grammar for Csv {
    fn cut(&self, text: &[u8]) -> Cut {
        parse::cut(text, self.dialect)
    }

    fn parse(&self, records: Records<'_>, columns: &mut Columns) -> Result<(), Fault> {
        parse::read(records, self.dialect, self.empty, columns)
    }

    fn start_of(&self, text: &[u8], row: usize, columns: usize) -> Option<usize> {
        self.dialect.start_of(text, row, columns)
    }

    fn terminator(&self) -> u8 {
        self.dialect.terminator
    }
}

/// Looks at the beginning of a file and makes it ready to be read.
pub(crate) fn open(input: Input, format: Format, options: &Options) -> Result<TextFile<Csv>, Error> {
    for byte in [options.delimiter, options.quote].into_iter().flatten() {
        if !byte.is_ascii() || matches!(byte, b'\r' | b'\n') {
            let problem = format!(
                "delimiter and quote are single ASCII characters other than line ends, not byte {byte}"
            );
            return Err(Error::Format { path: input.name().to_owned(), problem });
        }
    }
    let text = Text::new(input, options.encoding.as_deref())?;
    let tab = (format == Format::Tsv).then_some(b'\t');
    let Beginning { skipped, sample, whole, dialect, first } =
        beginning(&text, options.delimiter.or(tab), options.quote)?;
    let header = options.header.unwrap_or_else(|| dialect.has_header(&sample, whole));
    let names = if header {
        names(&sample, &first).map_err(|fault| text.error(skipped, fault, dialect.terminator))?
    } else {
        (0..first.cells.len()).map(|n| format!("column_{n}")).collect()
    };
    let start = if header { first.end } else { first.start };
    let rows = memchr::memchr_iter(dialect.terminator, &sample[start..]).count() as u64;
    let read = (sample.len() - start).max(1) as u64;
    let left = text.len_hint().saturating_sub(start as u64);
    let shape = Shape {
        fields: names.into_iter().map(|name| Field::new(name, DataType::Utf8View, true)).collect(),
        start: skipped + start as u64,
        chunk_bytes: options.chunk_bytes.min(crate::MOST_CHUNK_BYTES),
        rows_hint: Some(
            u64::try_from(u128::from(left) * u128::from(rows) / u128::from(read)).unwrap_or(u64::MAX),
        ),
        described: described(format, dialect, header, &text),
    };
    Ok(TextFile::new(text, shape, Csv { dialect, empty: options.empty }))
}

/// What is known of a file before its rows are read.
struct Beginning {
    /// The bytes of a line that only tells the delimiter.
    skipped: u64,
    /// What is behind it.
    sample: Vec<u8>,
    /// Whether the sample goes to the end of the file.
    whole: bool,
    dialect: Dialect,
    first: Record,
}

/// Reads enough to know the dialect and the first record.
fn beginning(text: &Text, delimiter: Option<u8>, quote: Option<u8>) -> Result<Beginning, Error> {
    let mut stream = text.open()?;
    let mut sample = Vec::new();
    let mut wanted = SAMPLE_BYTES;
    loop {
        let missing = (wanted - sample.len()) as u64;
        stream.by_ref().take(missing).read_to_end(&mut sample).map_err(|source| text.unreadable(source))?;
        let whole = sample.len() < wanted;
        let (skip, declared) = declared_delimiter(&sample).unzip();
        let skip = skip.unwrap_or(0);
        let dialect = Dialect::detect(&sample[skip..], whole, delimiter.or(declared), quote);
        let fault = match dialect.first_record(&sample[skip..], whole) {
            Ok(Some(first)) => {
                let sample = sample.split_off(skip);
                return Ok(Beginning { skipped: skip as u64, sample, whole, dialect, first });
            }
            Ok(None) if whole => {
                return Err(Error::Empty { path: text.input.name().to_owned() });
            }
            Ok(None) if wanted >= HEADER_LIMIT => Fault::at(0, Problem::TooLong { limit: HEADER_LIMIT }),
            Ok(None) => {
                wanted *= 4;
                continue;
            }
            Err(fault) => fault,
        };
        return Err(text.error(skip as u64, fault, dialect.terminator));
    }
}

/// The length of a first line like `sep=;`, which Excel takes as a declaration, and the delimiter in it.
fn declared_delimiter(sample: &[u8]) -> Option<(usize, u8)> {
    let (&delimiter, rest) = sample.strip_prefix(b"sep=").or(sample.strip_prefix(b"SEP="))?.split_first()?;
    let end = match rest {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => return None,
    };
    (delimiter.is_ascii() && !matches!(delimiter, b'\r' | b'\n'))
        .then_some((sample.len() - rest.len() + end, delimiter))
}

/// The names in the first record; a column without one, such as pandas' index, is called by its place.
fn names(sample: &[u8], first: &Record) -> Result<Vec<String>, Fault> {
    if let Err(error) = std::str::from_utf8(&sample[first.start..first.end]) {
        return Err(Fault::at(first.start + error.valid_up_to(), Problem::Utf8));
    }
    let mut names: Vec<String> = Vec::with_capacity(first.cells.len());
    for (index, cell) in first.cells.iter().enumerate() {
        let mut name = String::from_utf8_lossy(&cell.text).into_owned();
        if name.is_empty() {
            name = format!("column_{index}");
            if first.cells.iter().any(|other| other.text == name.as_bytes()) {
                return Err(Fault::at(cell.at, Problem::EmptyName(index + 1)));
            }
        }
        if names.contains(&name) {
            return Err(Fault::at(cell.at, Problem::SameName(name)));
        }
        names.push(name);
    }
    Ok(names)
}

fn described(format: Format, dialect: Dialect, header: bool, text: &Text) -> String {
    let delimiter = match dialect.delimiter {
        b'\t' => "tab".to_owned(),
        byte => format!("'{}'", byte as char),
    };
    let quote =
        if dialect.quote == b'"' { String::new() } else { format!(", quote {}", dialect.quote as char) };
    let lines = if dialect.terminator == b'\r' { ", CR line ends" } else { "" };
    let header = if header { "header" } else { "no header" };
    format!("{format}, delimiter {delimiter}{quote}{lines}, {}, {header}", text.described())
}
