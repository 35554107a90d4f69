//! How a source is read, with the values of a run.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use trueup_compare::TableError;
use trueup_events::outcome::RunError;
use trueup_extract::{Access, Database, Empty, Engine, Format, Objects, Options, Query, Scheme};
use trueup_job::{
    Connection, ConnectionKind, FileFormat, FileOptions, Job, PathTemplate, QueryTemplate, Reference, Rows,
    Secret, Setting, Source, Value, path_under,
};

use crate::carry_out::Work;
use crate::failure::invalid_job;
use crate::input::{Declared, Input, OpenError};
use crate::shape::{Shape, Wishes};

/// How a source is read.
pub(crate) struct Reading {
    pub(crate) name: String,
    pub(crate) kind: ConnectionKind,
    pub(crate) origin: Origin,
    pub(crate) declared: Declared,
    pub(crate) wishes: Wishes,
}

/// Why a source cannot be compared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unopened {
    /// It cannot be opened.
    #[error(transparent)]
    Source(#[from] OpenError),
    /// It has not the columns that the job speaks of.
    #[error("{0}")]
    Job(RunError),
    /// Its rows cannot be read.
    #[error("{source_name}: {error}")]
    Rows { source_name: String, error: TableError },
}

/// What has come of a source that is kept before it is compared: rows of a database, or bytes of a store and how many there are.
#[derive(Default)]
pub(crate) struct Came {
    pub(crate) rows: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) expected: AtomicU64,
}

/// Where rows come from.
pub(crate) enum Origin {
    Files {
        path: String,
        options: Options,
    },
    Objects {
        url: String,
        access: Access,
        options: Options,
    },
    Database {
        engine: Engine,
        url: Secret,
        /// The name of the connection.
        place: String,
        query: Query,
    },
}

impl Origin {
    /// The database, to be read whole, and what is asked of it; of files there is none.
    pub(crate) fn database<'a>(
        &'a self,
        temp_dir: &'a Path,
        is_stopped: &'a (dyn Fn() -> bool + Sync),
    ) -> Option<(Database<'a>, &'a Query)> {
        let Self::Database { engine, url, place, query } = self else { return None };
        let (engine, url, tell) = (*engine, url.expose(), &|_| ());
        Some((Database { engine, url, place, temp_dir, has_rows: true, is_stopped, tell }, query))
    }
}

impl Reading {
    pub(crate) fn of(work: &Work<'_>, source: &Source) -> Result<Self, RunError> {
        let field = |name: &str| format!("sources.{}.{name}", source.name);
        let (kind, origin) = match &source.rows {
            Rows::Query { connection, query } => {
                let query = bound(work, query).map_err(|error| invalid_job(&field("query"), error))?;
                database(work, connection, |_| query)?
            }
            Rows::Table { connection, table } => {
                database(work, connection, |engine| Query::table(engine, table))?
            }
            Rows::Files { connection, path, options: given } => {
                let options = options(work, source, given)?;
                files(work, &field("file"), connection.as_deref(), path, options)?
            }
        };
        // What is cast is written in one way from there on.
        let mut date_formats = source.date_formats.clone();
        date_formats.retain(|column, _| !source.casts.contains_key(column));
        let declared = Declared {
            renames: source.columns.clone(),
            timezone: source.timezone.map(|zone| zone.to_string()),
            date_formats,
        };
        let wishes = Wishes::of(work, source)?;
        Ok(Self { name: source.name.clone(), kind, origin, declared, wishes })
    }

    /// Opens it, which for a database is to read all of it, or only its columns, until somebody calls it off.
    pub(crate) fn open(
        &self,
        temp_dir: &Path,
        has_rows: bool,
        is_stopped: &(dyn Fn() -> bool + Sync),
        came: &Came,
    ) -> Result<Input, Unopened> {
        let opened = match &self.origin {
            Origin::Files { path, options } => trueup_extract::open(path, options),
            Origin::Objects { url, access, options } => {
                let tell = &|bytes, expected| {
                    came.bytes.store(bytes, Ordering::Relaxed);
                    came.expected.store(expected, Ordering::Relaxed);
                };
                Objects { url, access, has_rows, is_stopped, tell }.open(options)
            }
            Origin::Database { engine, url, place, query } => {
                let (engine, url, tell) =
                    (*engine, url.expose(), &|rows| came.rows.store(rows, Ordering::Relaxed));
                Database { engine, url, place, temp_dir, has_rows, is_stopped, tell }.query(query)
            }
        };
        self.shaped(opened, has_rows, is_stopped)
    }

    /// What was opened, as the job wants it.
    pub(crate) fn shaped(
        &self,
        opened: Result<trueup_extract::Table, trueup_extract::Error>,
        has_rows: bool,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Input, Unopened> {
        let mut input = Input::of(&self.name, opened)?;
        input.declared = self.declared.clone();
        let schema = input.table.opened.schema();
        let mut shape = Shape::new(&self.wishes, &self.declared, &schema).map_err(Unopened::Job)?;
        if let Some(shape) = shape.as_mut().filter(|_| has_rows) {
            let surveyed = shape.survey(&input.table.opened, is_stopped);
            surveyed.map_err(|error| Unopened::Rows { source_name: self.name.clone(), error })?;
        }
        input.table.shape = shape;
        Ok(input)
    }
}

fn bound(work: &Work<'_>, query: &QueryTemplate) -> Result<Query, trueup_job::TemplateError> {
    let bound = query.bind(work.arguments)?;
    let value = |value: &Value| match value {
        Value::Integer(number) => trueup_extract::Value::Integer(*number),
        Value::Boolean(flag) => trueup_extract::Value::Boolean(*flag),
        Value::Decimal(decimal) => trueup_extract::Value::Decimal(decimal.to_string()),
        other => trueup_extract::Value::Text(other.to_string()),
    };
    Ok(Query { pieces: bound.pieces().to_vec(), values: bound.values().iter().map(value).collect() })
}

fn database(
    work: &Work<'_>,
    name: &str,
    query: impl FnOnce(Engine) -> Query,
) -> Result<(ConnectionKind, Origin), RunError> {
    let connection = connection(work.job, name)?;
    let engine = match connection.kind {
        ConnectionKind::Postgres => Engine::Postgres,
        ConnectionKind::Mysql => Engine::Mysql,
        ConnectionKind::Sqlite => Engine::Sqlite,
        #[cfg(feature = "odbc")]
        ConnectionKind::Odbc => Engine::Odbc,
        #[cfg(not(feature = "odbc"))]
        ConnectionKind::Odbc => {
            let problem = "ODBC is not built in; build it with `cargo build --release --features odbc`";
            return Err(invalid_job(&format!("connections.{name}.type"), problem));
        }
        kind => {
            let problem = format!("{kind} is not read yet; postgres, mysql, sqlite, odbc and files are");
            return Err(invalid_job(&format!("connections.{name}.type"), problem));
        }
    };
    let url = url(work, name, connection)?;
    Ok((connection.kind, Origin::Database { engine, url, place: name.to_owned(), query: query(engine) }))
}

fn connection<'a>(job: &'a Job, name: &str) -> Result<&'a Connection, RunError> {
    let undefined = || invalid_job(&format!("connections.{name}"), "the job does not define it");
    job.connections.get(name).ok_or_else(undefined)
}

/// The address of a database with its credentials, as it is or from its parts.
fn url(work: &Work<'_>, name: &str, connection: &Connection) -> Result<Secret, RunError> {
    let part = |part: &str| match connection.setting(part) {
        None => Ok(None),
        Some(setting) => resolved(work, &format!("connections.{name}.{part}"), setting).map(Some),
    };
    // Of a file, the path is all there is, and a driver has words of its own.
    if let Some(url) = part("path")?.or(part("url")?).or(part("connection_string")?) {
        return Ok(url);
    }
    let escaped = |secret: &Secret| utf8_percent_encode(secret.expose(), NON_ALPHANUMERIC).to_string();
    let mut url = format!("{}://", connection.kind);
    let with = |before: &str, secret: Option<Secret>| {
        secret.map_or_else(String::new, |secret| format!("{before}{}", escaped(&secret)))
    };
    url += &with("", part("user")?);
    url += &with(":", part("password")?);
    url += &with("@", part("host")?);
    url += &with(":", part("port")?);
    url += &with("/", part("database")?);
    Ok(Secret::new(url))
}

fn resolved(work: &Work<'_>, field: &str, setting: &Setting) -> Result<Secret, RunError> {
    setting.resolve(work.look_up).map_err(|problem| invalid_job(field, problem))
}

fn files(
    work: &Work<'_>,
    field: &str,
    connection_name: Option<&str>,
    path: &PathTemplate,
    options: Options,
) -> Result<(ConnectionKind, Origin), RunError> {
    let filled = path.fill(work.arguments).map_err(|error| invalid_job(field, error))?;
    let named = connection_name.map(|name| connection(work.job, name)).transpose()?;
    let setting = |name: &str| {
        let setting = named.and_then(|connection| connection.setting(name));
        let field = || format!("connections.{}.{name}", connection_name.unwrap_or_default());
        setting.map(|setting| resolved(work, &field(), setting)).transpose()
    };
    let Some(scheme) = Scheme::of(&filled) else {
        let path = match setting("path")? {
            Some(directory) => path_under(directory.expose(), &filled),
            None => filled,
        };
        return Ok((ConnectionKind::File, Origin::Files { path, options }));
    };
    scheme.check(&filled).map_err(|problem| invalid_job(field, problem))?;
    let kind = match scheme {
        Scheme::S3 => ConnectionKind::S3,
        Scheme::Gs => ConnectionKind::Gs,
        Scheme::Az => ConnectionKind::Az,
        Scheme::Http => ConnectionKind::Http,
    };
    // A variable that is not set leaves open what it would say.
    let variable = |name: &str| (work.look_up)(&Reference::Env(name.to_owned())).ok();
    let access = if named.is_none() {
        Access::of_environment(scheme, variable)
    } else {
        let exposed = |name: &str| Ok(setting(name)?.map(|secret| secret.expose().to_owned()));
        Access::of_connection(scheme, exposed, variable)?
    };
    Ok((kind, Origin::Objects { url: filled, access, options }))
}

fn options(work: &Work<'_>, source: &Source, options: &FileOptions) -> Result<Options, RunError> {
    let field = |name: &str| format!("sources.{}.{name}", source.name);
    let byte = |name: &str, given: Option<char>| match given.map(u8::try_from) {
        None => Ok(None),
        Some(Ok(byte)) if byte.is_ascii() => Ok(Some(byte)),
        Some(_) => Err(invalid_job(&field(name), "only an ASCII character is read")),
    };
    let format = match options.format {
        None => None,
        Some(FileFormat::Csv) => Some(Format::Csv),
        Some(FileFormat::Tsv) => Some(Format::Tsv),
        Some(FileFormat::JsonLines) => Some(Format::JsonLines),
        Some(FileFormat::Parquet) => Some(Format::Parquet),
        Some(FileFormat::Arrow) => Some(Format::Arrow),
        Some(FileFormat::Excel) => Some(Format::Excel),
    };
    Ok(Options {
        format,
        delimiter: byte("delimiter", options.delimiter)?,
        quote: byte("quote", options.quote)?,
        header: options.no_header.map(|no_header| !no_header),
        encoding: options.encoding.clone(),
        sheet: options.sheet.clone(),
        empty: match options.empty {
            None | Some(trueup_job::Empty::Quoted) => Empty::Quoted,
            Some(trueup_job::Empty::Null) => Empty::Null,
            Some(trueup_job::Empty::Text) => Empty::Text,
        },
        threads: work.limits.threads,
        ..Options::new(&work.limits.temp_dir)
    })
}
