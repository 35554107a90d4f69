//! What a job comes to with the values of a run, before anything is read.

use std::path::PathBuf;

use trueup_compare::Spec;
use trueup_events::outcome::RunError;
use trueup_extract::{Empty, Format, Options};
use trueup_job::{ConnectionKind, FileFormat, FileOptions, Job, Method, Rows, Source, Strategy, path_under};

use crate::breaks;
use crate::carry_out::Work;
use crate::failure::invalid_job;
use crate::input::Declared;
use crate::specification;

/// What is to be read and compared.
pub(crate) struct Plan {
    pub(crate) sources: Vec<Reading>,
    pub(crate) stages: Vec<Comparing>,
}

/// How a source is read.
pub(crate) struct Reading {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) options: Options,
    pub(crate) declared: Declared,
}

/// What a stage compares, and where its breaks go.
pub(crate) struct Comparing {
    pub(crate) name: String,
    pub(crate) spec: Spec,
    pub(crate) breaks: PathBuf,
}

impl Plan {
    /// Plans all of it; what cannot be carried out is refused here, with the field that says it.
    pub(crate) fn new(work: &Work<'_>) -> Result<Self, RunError> {
        let job = work.job;
        if job.strategy == Strategy::DrillDownOnFailure {
            return Err(invalid_job(
                "strategy",
                format!("{} is not carried out yet; ALL and PARALLEL are", job.strategy.name()),
            ));
        }
        if job.compare != Method::Full {
            return Err(invalid_job(
                "compare",
                format!("{} is not carried out yet; full is", job.compare.name()),
            ));
        }
        let sources = job.sources.iter().map(|source| reading(work, source)).collect::<Result<_, _>>()?;
        let stage = |stage: &trueup_job::Stage| {
            let breaks =
                breaks::file(work.breaks_dir, &stage.name).map_err(|error| invalid_job("stages", error))?;
            let spec = specification::spec(job, stage, work.breaks_kept)?;
            Ok(Comparing { name: stage.name.clone(), spec, breaks })
        };
        let stages = job.stages.iter().map(stage).collect::<Result<_, _>>()?;
        Ok(Self { sources, stages })
    }
}

fn reading(work: &Work<'_>, source: &Source) -> Result<Reading, RunError> {
    let field = |name: &str| format!("sources.{}.{name}", source.name);
    if source.filter.is_some() {
        return Err(invalid_job(&field("filter"), "filters are not applied yet; leave it out"));
    }
    if !source.casts.is_empty() {
        return Err(invalid_job(
            &field("casts"),
            "casts are not applied yet; types are detected without them",
        ));
    }
    Ok(Reading {
        name: source.name.clone(),
        path: path(work, source)?,
        options: options(work, source)?,
        declared: Declared {
            renames: source.columns.clone(),
            timezone: source.timezone.map(|zone| zone.to_string()),
            date_formats: source.date_formats.clone(),
        },
    })
}

const ONLY_FILES: &str = "only files of this machine are read so far";

fn path(work: &Work<'_>, source: &Source) -> Result<String, RunError> {
    let field = |name: &str| format!("sources.{}.{name}", source.name);
    let (connection, path) = match &source.rows {
        Rows::Query { .. } => return Err(invalid_job(&field("query"), ONLY_FILES)),
        Rows::Table { .. } => return Err(invalid_job(&field("table"), ONLY_FILES)),
        Rows::Files { connection, path, .. } => (connection, path),
    };
    if let Some(scheme) = path.scheme() {
        return Err(invalid_job(&field("file"), format!("{ONLY_FILES}, not {scheme}://")));
    }
    let filled = path.fill(work.arguments).map_err(|error| invalid_job(&field("file"), error))?;
    match connection {
        None => Ok(filled),
        Some(name) => directory(work.job, name).map(|directory| path_under(&directory, &filled)),
    }
}

/// The directory of a connection; references are for credentials, which a directory needs none of.
fn directory(job: &Job, name: &str) -> Result<String, RunError> {
    let field = format!("connections.{name}");
    let Some(connection) = job.connections.get(name) else {
        return Err(invalid_job(&field, format!("the job does not define it, and {ONLY_FILES}")));
    };
    let path = connection.setting("path").filter(|_| connection.kind == ConnectionKind::File);
    let Some(path) = path else {
        return Err(invalid_job(&field, format!("{ONLY_FILES}, not {}", connection.kind)));
    };
    let written_out = path.resolve(|reference| Err(reference.to_string()));
    let directory = written_out.map_err(|reference| {
        invalid_job(&format!("{field}.path"), format!("a directory has to be written out, not {reference}"))
    })?;
    Ok(directory.expose().to_owned())
}

fn options(work: &Work<'_>, source: &Source) -> Result<Options, RunError> {
    let Rows::Files { options, .. } = &source.rows else {
        return Ok(Options::new(&work.limits.temp_dir));
    };
    let field = |name: &str| format!("sources.{}.{name}", source.name);
    let FileOptions { decimal_separator, thousands_separator, sheet, .. } = options;
    let unread = [
        ("decimal_separator", decimal_separator.is_some_and(|separator| separator != '.')),
        ("thousands_separator", thousands_separator.is_some()),
        ("sheet", sheet.is_some()),
    ];
    if let Some((name, _)) = unread.iter().find(|(_, given)| *given) {
        return Err(invalid_job(&field(name), "this is not read yet; leave it out"));
    }
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
        Some(FileFormat::Excel) => {
            return Err(invalid_job(
                &field("format"),
                "excel is not read yet; csv, tsv, jsonl, parquet and arrow are",
            ));
        }
    };
    Ok(Options {
        format,
        delimiter: byte("delimiter", options.delimiter)?,
        quote: byte("quote", options.quote)?,
        header: options.no_header.then_some(false),
        encoding: options.encoding.clone(),
        empty: match options.empty {
            None | Some(trueup_job::Empty::Quoted) => Empty::Quoted,
            Some(trueup_job::Empty::Null) => Empty::Null,
            Some(trueup_job::Empty::Text) => Empty::Text,
        },
        threads: work.limits.threads,
        ..Options::new(&work.limits.temp_dir)
    })
}
