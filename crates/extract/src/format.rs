//! The formats a file can have, and how to tell them apart.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::csv::DELIMITERS;
use crate::error::Error;
use crate::input::Input;

/// The format of a file, under whatever compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text with delimiters.
    Csv,
    /// Text with tabs for delimiters.
    Tsv,
    /// One JSON object a line.
    JsonLines,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, as a file or a stream.
    Arrow,
    /// A sheet of a workbook, of Excel or of those that write alike.
    Excel,
}

/// No format has that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no format is called {0:?}; known are csv, tsv, jsonl, parquet, arrow and excel")]
pub struct UnknownFormat(String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        match name {
            "csv" | "txt" | "psv" => Ok(Self::Csv),
            "tsv" | "tab" => Ok(Self::Tsv),
            "jsonl" | "ndjson" | "json" => Ok(Self::JsonLines),
            "parquet" | "pq" => Ok(Self::Parquet),
            "arrow" | "arrows" | "feather" | "ipc" => Ok(Self::Arrow),
            "excel" | "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => Ok(Self::Excel),
            _ => Err(UnknownFormat(name.to_owned())),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Csv => "CSV",
            Self::Tsv => "TSV",
            Self::JsonLines => "JSON lines",
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow IPC",
            Self::Excel => "Excel",
        })
    }
}

/// How workbooks begin that are archives of XML or of binary parts.
const ZIP: &[u8] = b"PK\x03\x04";

/// How older workbooks begin, and those with a password.
pub(crate) const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// How the bytes of a text file are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    Plain,
    Gzip,
    Zstd,
}

/// How files begin that are packed in other ways.
const UNREAD: [(&str, &[u8]); 3] =
    [("xz", b"\xfd7zXZ\0"), ("bzip2", b"BZh91AY&SY"), ("lz4", b"\x04\x22\x4d\x18")];

impl Compression {
    pub(crate) fn of(head: &[u8]) -> Self {
        if head.starts_with(&[0x1f, 0x8b]) {
            Self::Gzip
        } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            Self::Zstd
        } else {
            Self::Plain
        }
    }
}

/// Tells the format by a file's extension.
pub(crate) fn by_name(path: &Path) -> Option<Format> {
    // Any other extension simply is none that is known.
    extension(path)?.parse().ok()
}

/// Whether a file is data by its name; a `.txt` beside such is more likely about it.
pub(crate) fn is_data(path: &Path) -> bool {
    by_name(path).is_some() && extension(path).is_some_and(|extension| extension != "txt")
}

/// The extension in lower case, the one under `.gz` or `.zst` if it has such.
fn extension(path: &Path) -> Option<String> {
    let of = |path: &Path| path.extension()?.to_str().map(str::to_ascii_lowercase);
    let outer = of(path)?;
    if matches!(outer.as_str(), "gz" | "gzip" | "zst" | "zstd") {
        return of(&path.with_extension(""));
    }
    Some(outer)
}

/// Tells the format by what is in the file, else by its name.
///
/// What is neither binary nor starts with an object is taken for CSV if it has no name (standard input), or a delimiter. An
/// array of objects is JSON too, if not in lines, which reading it then says.
pub(crate) fn of(input: &Input) -> Result<Format, Error> {
    let (head, tail) = input.ends()?;
    if head.starts_with(b"PAR1") && tail.ends_with(b"PAR1") {
        return Ok(Format::Parquet);
    }
    let stream = head.starts_with(&[0xff; 4]) && head.len() >= 8;
    if stream || (head.starts_with(b"ARROW1") && tail.ends_with(b"ARROW1")) {
        return Ok(Format::Arrow);
    }
    if head.starts_with(ZIP) || head.starts_with(OLE) {
        return Ok(Format::Excel);
    }
    if let Some((packer, _)) = UNREAD.iter().find(|(_, magic)| head.starts_with(magic)) {
        let problem =
            format!("packed with {packer}, which is not read; unpack it, or pack it with gzip or zstd");
        return Err(Error::Format { path: input.name().to_owned(), problem });
    }
    if let Some(format) = input.path().and_then(by_name) {
        return Ok(format);
    }
    let first = crate::text::first_bytes(input, Compression::of(&head))?;
    let bom = encoding_rs::Encoding::for_bom(&first).map_or(0, |(_, length)| length);
    // In UTF-16 every other byte of such a beginning is zero.
    let mut marks = first[bom..].iter().filter(|byte| **byte != 0 && !byte.is_ascii_whitespace());
    match (marks.next(), marks.next()) {
        (Some(b'{'), _) | (Some(b'['), Some(b'{')) => Ok(Format::JsonLines),
        _ if input.path().is_none() || is_delimited(&first[bom..], bom > 0) => Ok(Format::Csv),
        _ => Err(Error::UnknownFormat { path: input.name().to_owned() }),
    }
}

/// Whether a beginning is text with a delimiter in its first line; text that is marked as UTF-16 has zeros in it.
fn is_delimited(first: &[u8], is_marked: bool) -> bool {
    let is_text = |byte: &u8| *byte >= b' ' || byte.is_ascii_whitespace() || (is_marked && *byte == 0);
    let line = first.split(|byte| matches!(byte, b'\n' | b'\r')).find(|line| !line.is_empty());
    first.iter().all(is_text) && line.is_some_and(|line| line.iter().any(|byte| DELIMITERS.contains(byte)))
}
