//! Files as a source, and how they are read.

use crate::connection::{ConnectionKind, holds_password};
use crate::context::Context;
use crate::cursor::{At, Fields};
use crate::path::PathTemplate;
use crate::word::words;

words! {
    /// What files are.
    pub FileFormat {
        /// Text with delimiters.
        Csv = "csv",
        /// Text with tabs for delimiters.
        Tsv = "tsv",
        /// One JSON object a line.
        JsonLines = "jsonl",
        /// Apache Parquet.
        Parquet = "parquet",
        /// Arrow IPC, as a file or a stream.
        Arrow = "arrow",
        /// A sheet of an Excel workbook.
        Excel = "excel",
    }
}

words! {
    /// What an empty CSV field is.
    pub Empty {
        /// NULL, or the empty text if it is in quotes.
        Quoted = "quoted",
        /// NULL.
        Null = "null",
        /// The empty text.
        Text = "text",
    }
}

/// How files are read; what is not said is detected.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FileOptions {
    /// What they are.
    pub format: Option<FileFormat>,
    /// What is between fields.
    pub delimiter: Option<char>,
    /// What is around fields.
    pub quote: Option<char>,
    /// The encoding of text.
    pub encoding: Option<String>,
    /// What an empty field is.
    pub empty: Option<Empty>,
    /// Whether the first line is data; detected unless said.
    pub no_header: Option<bool>,
    /// The sheet of a workbook.
    pub sheet: Option<String>,
    /// What is before decimals.
    pub decimal_separator: Option<char>,
    /// What is between thousands.
    pub thousands_separator: Option<char>,
}

pub(crate) fn read_options(fields: &Fields<'_>) -> Option<FileOptions> {
    let format = fields.maybe("format", At::word);
    let delimiter = fields.maybe("delimiter", |at| one_character(at));
    let quote = fields.maybe("quote", |at| one_character(at));
    let encoding = fields.maybe("encoding", At::text);
    let empty = fields.maybe("empty", At::word);
    let no_header = fields.maybe("no_header", At::flag);
    let sheet = fields.maybe("sheet", At::text);
    let decimal = fields.maybe("decimal_separator", separator);
    let thousands = fields.maybe("thousands_separator", separator);
    if let (Some(decimal), Some(Some(thousands)), Some(at)) =
        (decimal, thousands, fields.get("thousands_separator"))
        && thousands == decimal.unwrap_or('.')
    {
        at.fault("decimals and thousands cannot have the same separator", None);
    }
    Some(FileOptions {
        format: format?,
        delimiter: delimiter?,
        quote: quote?,
        encoding: encoding?,
        empty: empty?,
        no_header: no_header?,
        sheet: sheet?,
        decimal_separator: decimal?,
        thousands_separator: thousands?,
    })
}

/// One character that is no letter, digit or line end; `tab` is a word for a tab.
fn one_character(at: &At<'_>) -> Option<char> {
    let text = at.scalar("one character")?;
    let mut chars = if text == "tab" { "\t".chars() } else { text.chars() };
    match (chars.next(), chars.next()) {
        (Some(c), None) if !c.is_alphanumeric() && (c == '\t' || !c.is_control()) => Some(c),
        _ => {
            at.fault("expected one character in quotes, or tab", None);
            None
        }
    }
}

/// A character that a numeral has no other use for.
fn separator(at: &At<'_>) -> Option<char> {
    let separator = one_character(at)?;
    if matches!(separator, '-' | '+') {
        at.fault("this is a sign, and cannot be within a number", None);
        return None;
    }
    Some(separator)
}

pub(crate) fn read_path(
    at: &At<'_>,
    context: &Context<'_>,
    kind: Option<ConnectionKind>,
) -> Option<PathTemplate> {
    let text = at.text()?;
    if holds_password(&text) {
        at.fault("a password or token is written out here", "name a connection that refers to it".to_owned());
        return None;
    }
    let template = context.template(at, &text)?;
    let path = PathTemplate::new(template).map_err(|reason| at.fault(reason, None)).ok()?;
    let Some(kind) = kind.filter(|kind| !kind.is_database()) else { return Some(path) };
    if !kind.reads(path.scheme()) {
        let expected = if kind == ConnectionKind::File { "a path" } else { "a URL" };
        at.fault(format!("the connection is of type {kind}: expected {expected} of it"), None);
        return None;
    }
    let text = path.to_string();
    if kind == ConnectionKind::File && (text.starts_with('/') || text.split('/').any(|part| part == "..")) {
        at.fault("expected a path within the directory of the connection, without ..", None);
        return None;
    }
    Some(path)
}
