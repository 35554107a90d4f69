//! `trueup runs breaks`: what a stage of a run found, read back from its file.

use std::fs;
use std::io::{self, BufWriter, Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use trueup_reconcile::breaks::{self, StoredBreaks, StoredBreaksError};
use trueup_store::Record;

use super::find::find;
use super::show::events;
use crate::arguments::{Breaks, BreaksForm, Colours};
use crate::failure::Failure;
use crate::place::{self, Home};
use crate::report::text_grid::{Field, lines};
use crate::story::{Stage, Story};
use crate::visible::visible;
use crate::{output, terminal};

/// How many breaks a table shows unless said.
const ROWS_SHOWN: usize = 20;

/// Prints the breaks of a stage.
pub(super) fn breaks(options: &Breaks) -> Result<ExitCode, Failure> {
    let home = Home::of(&options.places)?;
    let (record, story) = place::look(&options.places, async |store, tenant_id| {
        let record = find(store, tenant_id, &options.run).await?;
        let mut story = Story::default();
        events(store, &record).await?.iter().for_each(|event| story.hear(event));
        Ok((record, story))
    })?;
    let stage = stage(&record, &story, options.stage.as_deref())?;
    let file = file(&home, &record, &stage.name)?;
    let stored = StoredBreaks::open(&file)?;
    if options.format == BreaksForm::Table {
        return table(stored, options.limit.unwrap_or(ROWS_SHOWN));
    }
    let rows = options.limit.unwrap_or(usize::MAX);
    let mut out = BufWriter::new(stdout().lock());
    let written = match options.format {
        BreaksForm::Jsonl => stored.write_json_lines(rows, &mut out),
        BreaksForm::Csv | BreaksForm::Table => stored.write_csv(rows, &mut out),
    };
    match written.and_then(|()| out.flush().map_err(StoredBreaksError::Write)) {
        // Whoever read them has seen enough.
        Err(StoredBreaksError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
        written => written?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The stage that was asked for, or the only one.
fn stage<'a>(record: &Record, story: &'a Story, name: Option<&str>) -> Result<&'a Stage, Failure> {
    let done = || story.stages.iter().filter(|stage| stage.result.is_some());
    let names = || done().map(|stage| stage.name.as_str()).collect::<Vec<_>>().join(", ");
    let id = record.id();
    match (name, done().count()) {
        (_, 0) => {
            let what = format!("the run {id} has no breaks: no stage of it has a result");
            Err(Failure::propose(what, format!("trueup runs show {id}"), "shows how it stands"))
        }
        (None, 1) => done().next().ok_or_else(|| unreachable!("one was counted")),
        (None, _) => {
            let what = format!("the run {id} has several stages");
            Err(Failure::usage_hint(what, format!("choose one by --stage: {}", names())))
        }
        (Some(name), _) => done().find(|stage| stage.name == name).ok_or_else(|| {
            let what = format!("the run {id} has no result of a stage {name:?}");
            Failure::usage_hint(what, format!("it has results of {}", names()))
        }),
    }
}

/// The file of a stage in the folder of the run's last attempt.
fn file(home: &Home, record: &Record, stage: &str) -> Result<PathBuf, Failure> {
    let folder = home.runs_of(record.run.ids.tenant_id).join(record.id().workflow_name());
    let missing = || {
        let what = format!("the breaks of the run {} are not in {}", record.id(), folder.display());
        let hint = "look on the machine that executed it, or name its folder by --data-dir";
        Failure::usage_hint(what, hint)
    };
    let attempt = last_attempt(&folder).ok_or_else(missing)?;
    let file = breaks::file(&attempt, stage).map_err(|error| Failure::usage(error.to_string()))?;
    if file.exists() { Ok(file) } else { Err(missing()) }
}

/// The folder with the highest number; what has no number is none of an attempt.
fn last_attempt(folder: &Path) -> Option<PathBuf> {
    let names = fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let last = names.filter_map(|name| name.parse::<u32>().ok()).max()?;
    Some(folder.join(last.to_string()))
}

fn table(stored: StoredBreaks, limit: usize) -> Result<ExitCode, Failure> {
    let columns = stored.columns().to_vec();
    let rows = stored.first(limit.saturating_add(1))?;
    let has_more = rows.len() > limit;
    // NULL is nothing at all, unlike the empty text.
    let shown = |value: &Option<String>| match value.as_deref() {
        None => String::new(),
        Some("") => "\"\"".to_owned(),
        Some(text) => visible(text),
    };
    let names = columns.iter().position(|name| name == "column");
    let field = |(column, value)| {
        if Some(column) > names { Field::long(shown(value)) } else { Field::name(shown(value)) }
    };
    let fields: Vec<Vec<Field>> =
        rows.iter().take(limit).map(|row| row.iter().enumerate().map(field).collect()).collect();
    if fields.is_empty() {
        return output::say("no breaks\n");
    }
    let look = terminal::look_of_stdout(Colours::Auto);
    let headings: Vec<&str> = columns.iter().map(String::as_str).collect();
    let more = if has_more {
        format!("the first {limit}; --limit shows more, and --format csv all of them\n")
    } else {
        String::new()
    };
    // In a pipe nothing is cut: whoever reads it there cannot widen it.
    let width = terminal::width_of_stdout().unwrap_or(usize::MAX);
    output::say(&(lines(&headings, &fields, width, look.marks()) + &more))
}
