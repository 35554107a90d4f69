//! What is compared: queries, tables and files, and how their columns are read.

mod file;

use std::collections::BTreeMap;

use crate::connection::ConnectionKind;
use crate::context::Context;
use crate::cursor::{At, Fields};
use crate::filter::{self, Filter};
use crate::node::shortened;
use crate::path::PathTemplate;
use crate::query::QueryTemplate;
use crate::shape::{Kind, Shape, TEXT_BY_NAME, optional};
use crate::template::Template;
use crate::value::Type;
use crate::zone::Zone;

pub use file::{Empty, FileFormat, FileOptions};

pub(crate) const SOURCE: Shape = Shape {
    fields: &[
        optional("name", Kind::Text, "Its name, where sources are a list."),
        optional("connection", Kind::Text, "The connection, of this document or of the server."),
        optional("query", Kind::Text, "SQL; values of templates are bound."),
        optional("table", Kind::Text, "A table, as `schema.table`."),
        optional("file", Kind::Text, "A file, a directory, a glob or a URL."),
        optional("format", Kind::Word(FileFormat::NAMES), "What the files are; otherwise detected."),
        optional(
            "delimiter",
            Kind::Text,
            "What is between fields: one character, or `tab`; otherwise detected.",
        ),
        optional("quote", Kind::Text, "What is around fields: one character; otherwise detected."),
        optional("encoding", Kind::Text, "The encoding of text files, such as `latin1`."),
        optional("empty", Kind::Word(Empty::NAMES), "What an empty CSV field is."),
        optional(
            "no_header",
            Kind::Flag,
            "Whether the first line is data, so that columns are column_0, column_1, …; otherwise detected.",
        ),
        optional("sheet", Kind::Text, "The sheet of an Excel file; otherwise the first."),
        optional("columns", TEXT_BY_NAME, "New names of columns, by their own."),
        optional(
            "casts",
            Kind::Map { of: &Kind::Word(Type::NAMES), least: 1 },
            "Types of columns, by their new names.",
        ),
        optional("filter", Kind::Text, "A condition on rows, in SQL over the new names."),
        optional("timezone", Kind::Text, "The zone of times that carry none."),
        optional("date_formats", TEXT_BY_NAME, "How dates in a column are written, such as `%d/%m/%Y`."),
        optional("decimal_separator", Kind::Text, "What is before decimals; `.` unless said."),
        optional("thousands_separator", Kind::Text, "What is between thousands; nothing unless said."),
    ],
};

/// Fields that say how files are read.
const OF_FILES: [&str; 9] = [
    "format",
    "delimiter",
    "quote",
    "encoding",
    "empty",
    "no_header",
    "sheet",
    "decimal_separator",
    "thousands_separator",
];

/// One of the sources compared.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source {
    /// Its name in every report.
    pub name: String,
    /// Where its rows come from.
    pub rows: Rows,
    /// New names by the columns' own.
    pub columns: BTreeMap<String, String>,
    /// What columns are read as, by their new names.
    pub casts: BTreeMap<String, Type>,
    /// A condition on rows.
    pub filter: Option<Filter>,
    /// The zone of times that carry none.
    pub timezone: Option<Zone>,
    /// `strftime`-style formats of dates, by the columns' new names.
    pub date_formats: BTreeMap<String, String>,
}

/// Where the rows of a source come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    /// A query of a database.
    Query {
        /// The connection.
        connection: String,
        /// The SQL.
        query: QueryTemplate,
    },
    /// A table of a database.
    Table {
        /// The connection.
        connection: String,
        /// The parts of its name, unquoted: schema and table.
        table: Vec<String>,
    },
    /// Files.
    Files {
        /// The connection with the credentials or the directory, if one is named.
        connection: Option<String>,
        /// Where they are.
        path: PathTemplate,
        /// How they are read.
        options: FileOptions,
    },
}

impl Rows {
    /// The connection, if one is named.
    pub fn connection(&self) -> Option<&str> {
        match self {
            Self::Query { connection, .. } | Self::Table { connection, .. } => Some(connection),
            Self::Files { connection, .. } => connection.as_deref(),
        }
    }
}

/// Reads one source.
pub(crate) fn read(name: &str, at: &At<'_>, context: &Context<'_>) -> Option<Source> {
    let fields = at.fields(&SOURCE)?;
    let rows = read_rows(&fields, context);
    let columns = fields.maybe("columns", read_renames);
    let casts = fields.maybe("casts", |at| at.by_name(|_, at| at.word()));
    let filter = fields.maybe("filter", |at| filter::read(at, read_sql(at, context, false)?));
    let timezone = fields.maybe("timezone", |at| at.parsed(str::parse::<Zone>));
    let date_formats = fields.maybe("date_formats", |at| at.by_name(|_, at| read_date_format(at)));
    Some(Source {
        name: name.to_owned(),
        rows: rows?,
        columns: columns?.unwrap_or_default(),
        casts: casts?.unwrap_or_default(),
        filter: filter?,
        timezone: timezone?,
        date_formats: date_formats?.unwrap_or_default(),
    })
}

fn read_rows(fields: &Fields<'_>, context: &Context<'_>) -> Option<Rows> {
    let given: Vec<&str> =
        ["query", "table", "file"].into_iter().filter(|name| fields.get(name).is_some()).collect();
    let connection = fields.maybe("connection", |at| context.connection(at));
    let &[rows] = given.as_slice() else {
        let message = match given.as_slice() {
            [] => "one of `query`, `table` and `file` is missing".to_owned(),
            several => format!("only one of `{}` can be meant", several.join("` and `")),
        };
        fields.at.fault_name(message, None);
        return None;
    };
    if rows != "file" {
        for at in OF_FILES.iter().filter_map(|name| fields.get(name)) {
            at.fault_name(format!("this is for files, and the source is a {rows}"), None);
        }
        if fields.get("connection").is_none() {
            fields.at.fault_name(format!("`connection` is missing: a {rows} is read from a database"), None);
        }
    }
    let at = fields.get(rows)?;
    let kind = fields.get("connection").and_then(|at| context.connection_kind(&at));
    if let Some(kind) = kind.filter(|kind| kind.is_database() == (rows == "file")) {
        at.fault_name(format!("the connection is of type {kind}, which has no {rows}"), None);
    }
    match rows {
        "query" => {
            let query = read_sql(&at, context, kind == Some(ConnectionKind::Mysql));
            Some(Rows::Query { connection: connection??, query: query? })
        }
        "table" => {
            let table = at.parsed(table_name);
            Some(Rows::Table { connection: connection??, table: table? })
        }
        _ => {
            let path = file::read_path(&at, context, kind);
            let options = file::read_options(fields);
            Some(Rows::Files { connection: connection?, path: path?, options: options? })
        }
    }
}

/// SQL whose expressions are known and can be bound.
fn read_sql(at: &At<'_>, context: &Context<'_>, is_mysql: bool) -> Option<QueryTemplate> {
    let template = at.noted(Template::parse(&at.text()?))?;
    context.check(at, &template);
    at.noted(QueryTemplate::new(template, is_mysql))
}

/// The parts of `schema.table`, each in double quotes if need be.
fn table_name(text: &str) -> Result<Vec<String>, &'static str> {
    const EXPECTED: &str = "expected a table such as schema.table; anything more is a `query`";
    let mut parts = Vec::new();
    let mut rest = text.trim();
    loop {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#');
        let (part, behind) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or(EXPECTED)?,
            None => rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len())),
        };
        if part.is_empty() {
            return Err(EXPECTED);
        }
        parts.push(part.to_owned());
        match behind.strip_prefix('.') {
            Some(next) => rest = next,
            None if behind.is_empty() && parts.len() <= 3 => return Ok(parts),
            None => return Err(EXPECTED),
        }
    }
}

fn read_renames(at: &At<'_>) -> Option<BTreeMap<String, String>> {
    let renames = at.by_name(|_, at| at.text())?;
    let mut taken: Vec<&str> = Vec::new();
    for (column, new) in &renames {
        if taken.contains(&new.as_str()) {
            at.fault(format!("two columns are renamed to {new:?}, one of them {column:?}"), None);
            return None;
        }
        taken.push(new);
    }
    Some(renames)
}

fn read_date_format(at: &At<'_>) -> Option<String> {
    let format = at.text()?;
    let mut items = chrono::format::StrftimeItems::new(&format).peekable();
    if items.peek().is_none()
        || items.any(|item| item == chrono::format::Item::Error)
        || !format.contains('%')
    {
        at.fault(
            format!("{} is no format of dates", shortened(&format)),
            "expected one such as %d/%m/%Y".to_owned(),
        );
        return None;
    }
    Some(format)
}

#[cfg(test)]
mod tests {
    use super::table_name;

    #[test]
    fn names_of_tables() {
        let table: [(&str, Option<&[&str]>); 9] = [
            ("gl", Some(&["gl"])),
            ("public.gl", Some(&["public", "gl"])),
            ("\"My Schema\".\"a.b\"", Some(&["My Schema", "a.b"])),
            ("db.dbo.größe", Some(&["db", "dbo", "größe"])),
            ("a.b.c.d", None),
            ("gl;drop", None),
            ("gl ", Some(&["gl"])),
            ("\"gl", None),
            ("a..b", None),
        ];
        for (text, expected) in table {
            let found = table_name(text).ok();
            let expected =
                expected.map(|parts| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>());
            assert_eq!(found, expected, "{text}");
        }
    }
}
