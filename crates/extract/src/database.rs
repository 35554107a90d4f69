//! What is asked of a database.

use std::io;
use std::path::Path;

use crate::error::{Error, Refused};
#[cfg(feature = "odbc")]
use crate::odbc;
use crate::table::Table;
use crate::{mysql, postgres, sqlite};

/// A database, and how it is read.
#[derive(Clone, Copy)]
pub struct Database<'a> {
    /// What kind it is.
    pub engine: Engine,
    /// Where it is, credentials included: it is never shown.
    pub url: &'a str,
    /// What stands for it in errors and reports.
    pub place: &'a str,
    /// Where rows are kept while they are compared.
    pub temp_dir: &'a Path,
    /// Whether rows are read, or only the columns are wanted.
    pub has_rows: bool,
    /// Is asked several times a second whether to give up.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
    /// Is told how many rows came.
    pub tell: &'a (dyn Fn(u64) + Sync),
}

/// The kinds of database that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// PostgreSQL.
    Postgres,
    /// MySQL or MariaDB.
    Mysql,
    /// A SQLite file, whose path is the URL.
    Sqlite,
    /// Whatever has an ODBC driver; the URL is its connection string.
    #[cfg(feature = "odbc")]
    Odbc,
}

/// SQL and the values that are bound in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The SQL before each value, and behind the last.
    pub pieces: Vec<String>,
    /// The values, which the database reads as the types it expects in their places.
    pub values: Vec<Value>,
}

/// A value to bind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// A numeral.
    Decimal(String),
    /// True or false.
    Boolean(bool),
    /// Text, or a date or time as ISO 8601 writes it.
    Text(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Boolean(flag) => flag.fmt(f),
            Self::Decimal(text) | Self::Text(text) => f.write_str(text),
        }
    }
}

impl Query {
    /// All of a table, whose name is given in parts: schema and table.
    #[must_use]
    pub fn table(engine: Engine, name: &[String]) -> Self {
        let quoted = |part: &String| match engine {
            Engine::Mysql => ticked(part),
            _ => quoted(part),
        };
        let name: Vec<String> = name.iter().map(quoted).collect();
        Self { pieces: vec![format!("select * from {}", name.join("."))], values: Vec::new() }
    }

    /// The SQL with a placeholder for each value, numbered from 1.
    pub(crate) fn sql(&self, placeholder: impl Fn(usize) -> String) -> String {
        let mut sql = String::new();
        for (number, piece) in self.pieces.iter().enumerate() {
            if number > 0 {
                sql.push_str(&placeholder(number));
            }
            sql.push_str(piece);
        }
        sql
    }

    /// What has no values to bind, as a table of another statement.
    pub(crate) fn source(&self) -> String {
        // A line of its own, for a query may end in a comment.
        format!("(\n{}\n) as source", unended(&self.sql(|_| String::new())))
    }
}

/// A statement as a part of another: without the semicolon that ends it.
pub(crate) fn unended(sql: &str) -> &str {
    sql.trim_end().trim_end_matches(';')
}

/// A name as MySQL has it.
pub(crate) fn ticked(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A name as SQL has it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Refuses what has no columns, or two of one name.
pub(crate) fn check_columns(names: &[&str]) -> Result<(), String> {
    if names.is_empty() {
        return Err("it delivers no columns; a source is a SELECT".to_owned());
    }
    match names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        Some((_, name)) => Err(format!("two columns are called {name:?}; name one of them with `as`")),
        None => Ok(()),
    }
}

impl Database<'_> {
    /// Reads all that a query delivers, which is kept on disk: a table is scanned more than once, and a query gives its
    /// rows in another order each time.
    ///
    /// # Errors
    /// When the database cannot be reached, refuses the query, or fails half-way.
    pub fn query(&self, query: &Query) -> Result<Table, Error> {
        match self.engine {
            Engine::Postgres => postgres::read(self, query),
            Engine::Mysql => mysql::read(self, query),
            Engine::Sqlite => sqlite::read(self, query),
            #[cfg(feature = "odbc")]
            Engine::Odbc => odbc::read(self, query),
        }
    }

    pub(crate) fn unkept(&self, source: io::Error) -> Error {
        let directory = self.temp_dir.display().to_string();
        Error::Spool { path: self.place.to_owned(), directory, source }
    }

    pub(crate) fn unexpected(&self, told: &str) -> Error {
        self.refused(Refused::Query, format!("it answers {told:?}, which is not what was asked for"))
    }

    pub(crate) fn refused(&self, kind: Refused, problem: String) -> Error {
        Error::Database { place: self.place.to_owned(), kind, problem }
    }
}
