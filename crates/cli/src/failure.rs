//! Why `trueup` stops, as the person who called it reads it.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::ExitCode;

use trueup_compare::{BreaksFileError, ValueProblem};
use trueup_store::StoreError;

use crate::visible::visible_lines;
use crate::{reading_hint, shell};

/// The exit code of an error.
pub(crate) const FAILED: u8 = 2;
/// The exit code after Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why `trueup` stops.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The command line does not fit the sources, or itself.
    #[error("{what}")]
    Usage {
        /// What does not fit.
        what: String,
        /// What to write instead.
        hint: Option<String>,
    },
    /// The command line does not fit the store, and a command helps that works on the same one.
    #[error("{what}")]
    Propose {
        /// What does not fit.
        what: String,
        /// The command.
        command: String,
        /// What that does.
        does: &'static str,
    },
    /// A source cannot be opened.
    #[error("{source_name}: {error}")]
    Open {
        /// The source's name.
        source_name: String,
        /// What is wrong with it.
        error: trueup_extract::Error,
    },
    /// The comparison cannot be made.
    #[error(transparent)]
    Compare(trueup_compare::Error),
    /// The breaks cannot be written.
    #[error(transparent)]
    Breaks(#[from] BreaksFileError),
    /// The report cannot be written.
    #[error("cannot write the report to {target}: {source}")]
    Report {
        /// Where it was to go.
        target: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The store cannot do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store cannot be opened.
    #[error("cannot open the store {place}: {error}")]
    OpenStore {
        /// Where it is, without its password.
        place: String,
        /// What is wrong with it.
        error: StoreError,
    },
    /// The store turns out to be damaged.
    #[error("cannot go on with the store {place}: {error}")]
    DamagedStore {
        /// Where it is, without its password.
        place: String,
        /// How one can tell.
        error: StoreError,
    },
    /// The folder for the files of runs cannot be made.
    #[error("cannot make the folder {folder}: {error}")]
    NoFolder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A job's file cannot be read.
    #[error("cannot read the job {path}: {error}")]
    ReadJob {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// What a file says is no job.
    #[error("{path} is no job that can be run:{}", listed(path, faults))]
    NoJob {
        /// The file.
        path: String,
        /// All that is wrong.
        faults: trueup_job::Faults,
    },
    /// A job could not be carried out.
    #[error("{}: {}", path.display(), error.message())]
    Check {
        /// The job's file.
        path: PathBuf,
        /// Why.
        error: trueup_events::outcome::RunError,
    },
    /// A run has no verdict.
    #[error("the run {id} ended as {status}: {error}")]
    Run {
        /// Which.
        id: trueup_events::RunId,
        /// What became of it.
        status: trueup_lifecycle::Status,
        /// Why.
        error: trueup_events::outcome::RunError,
    },
    /// The breaks of a run cannot be shown.
    #[error(transparent)]
    StoredBreaks(#[from] trueup_reconcile::breaks::StoredBreaksError),
    /// No task can be run.
    #[error("cannot start: {0}")]
    Runtime(std::io::Error),
    /// Signals cannot be caught.
    #[error("cannot catch interrupts: {0}")]
    Signals(#[from] ctrlc::Error),
    /// Somebody pressed Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// Somebody pressed Ctrl-C, and the run did not end in time.
    #[error("interrupted; the run {id} has not ended yet")]
    Left {
        /// The run.
        id: trueup_events::RunId,
    },
}

impl Failure {
    /// Something wrong with the command line.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self::Usage { what: what.into(), hint: None }
    }

    /// Something wrong with the command line, and what to write instead.
    pub(crate) fn usage_hint(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { what: what.into(), hint: Some(hint.into()) }
    }

    /// Something that does not fit the store, and the command that helps.
    pub(crate) fn propose(what: impl Into<String>, command: impl Into<String>, does: &'static str) -> Self {
        Self::Propose { what: what.into(), command: command.into(), does }
    }

    /// Prints the error and says how to exit; what it proposes names the store by these options.
    pub(crate) fn report(&self, colours: bool, store: &str) -> ExitCode {
        let paint = |style: &str, text: &str| {
            if colours { format!("\u{1b}[{style}m{text}\u{1b}[0m") } else { text.to_owned() }
        };
        eprintln!("{}: {}", paint("1;31", "error"), visible_lines(&self.to_string()));
        if let Some(hint) = self.hint(store) {
            eprintln!("{}: {}", paint("1;36", "hint"), visible_lines(&hint));
        }
        ExitCode::from(if matches!(self, Self::Interrupted | Self::Left { .. }) {
            INTERRUPTED
        } else {
            FAILED
        })
    }

    fn hint(&self, store: &str) -> Option<String> {
        match self {
            Self::Usage { hint, .. } => hint.clone(),
            Self::Propose { command, does, .. } => Some(format!("`{command}{store}` {does}")),
            Self::Open { source_name, error } => reading_hint::of(source_name, error),
            Self::Compare(error) => comparison_hint(error),
            Self::Breaks(error) => error.hint(),
            Self::Report { source, .. } | Self::Write { source, .. } => match source.kind() {
                ErrorKind::NotFound => Some("make the directory first".to_owned()),
                ErrorKind::IsADirectory => Some("name a file in it".to_owned()),
                ErrorKind::NotADirectory | ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                    Some("choose a directory that can be written to".to_owned())
                }
                ErrorKind::StorageFull => Some("free some space, or write to another disk".to_owned()),
                _ => None,
            },
            Self::Store(error) | Self::OpenStore { error, .. } | Self::DamagedStore { error, .. } => {
                store_hint(error, store)
            }
            Self::NoFolder { .. } => Some("name another by --data-dir, or by --store".to_owned()),
            Self::ReadJob { .. } => Some("check the path".to_owned()),
            Self::NoJob { .. } => Some("nothing was saved; docs/jobs.md says what a job has".to_owned()),
            Self::Check { .. } => Some("docs/jobs.md says what a job has".to_owned()),
            Self::Left { id } => Some(format!(
                "it ends when its worker answers, or counts as lost; `trueup runs show {id}{store}` shows which"
            )),
            Self::Run { id, .. } => Some(format!("`trueup runs show {id}{store}` shows what it told")),
            Self::StoredBreaks(_) | Self::Signals(_) | Self::Runtime(_) | Self::Interrupted => None,
        }
    }
}

fn store_hint(error: &StoreError, store: &str) -> Option<String> {
    match error {
        StoreError::NoSuchQueue { name } => {
            Some(format!("make it: trueup queues set {name}{store}; or let the job use the queue `default`"))
        }
        StoreError::QueueFull { queue, .. } => Some(format!(
            "try again when some have started, or let more wait: trueup queues set {queue}{store} --max-waiting N"
        )),
        other => other.hint().map(str::to_owned),
    }
}

/// Faults with the file, a line each.
fn listed(path: &str, faults: &trueup_job::Faults) -> String {
    let lines: Vec<String> = faults.iter().map(|fault| format!("\n  {path}:{fault}")).collect();
    lines.concat()
}

fn comparison_hint(error: &trueup_compare::Error) -> Option<String> {
    match error {
        trueup_compare::Error::Read { source_name, error } => {
            reading_hint::of(source_name, error.downcast_ref()?)
        }
        trueup_compare::Error::Spill { error, .. } if error.kind() == ErrorKind::StorageFull => {
            Some("free some space there, point TMPDIR elsewhere, or raise --memory".to_owned())
        }
        trueup_compare::Error::Spill { error, .. } => reading_hint::of_temporary_files(error.kind()),
        trueup_compare::Error::Value { source_name, column, problem, .. } => {
            value_hint(source_name, column, problem)
        }
        trueup_compare::Error::MissingKey { source_name, column, near: Some(near) } => {
            let rename = shell::word(&format!("{source_name}:{near}={column}"));
            Some(format!("it has `{near}`: --rename {rename}"))
        }
        trueup_compare::Error::Duplicates { .. } => Some(
            "--duplicates multiset pairs the rows of a key, --measure 'sum(amount)' makes one of them"
                .to_owned(),
        ),
        trueup_compare::Error::Overflow { .. } => {
            Some("a --key of more columns makes smaller groups".to_owned())
        }
        other => other.hint(),
    }
}

fn value_hint(source: &str, column: &str, problem: &ValueProblem) -> Option<String> {
    match problem {
        ValueProblem::DayOrMonth => {
            let format = shell::word(&format!("{source}:{column}=%d/%m/%Y"));
            let column = shell::word(column);
            Some(format!(
                "declare it, as in --date-format {format}, or compare it as it is written: --text {column}"
            ))
        }
        ValueProblem::TooLong => {
            let column = shell::word(column);
            Some(format!("a number may have 38 digits; what only looks like one is text: --text {column}"))
        }
        ValueProblem::Exponent => {
            Some(format!("what only looks like a number is text: --text {}", shell::word(column)))
        }
        other => other.hint().map(str::to_owned),
    }
}

impl From<trueup_compare::Error> for Failure {
    fn from(error: trueup_compare::Error) -> Self {
        match error {
            trueup_compare::Error::Cancelled => Self::Interrupted,
            trueup_compare::Error::Breaks(error) => match error.downcast() {
                Ok(error) => Self::Breaks(*error),
                Err(error) => Self::Compare(trueup_compare::Error::Breaks(error)),
            },
            other => Self::Compare(other),
        }
    }
}
