//! The command line.

#![expect(clippy::doc_markdown, reason = "these comments are the help text, which has no markup")]

mod queues;
mod running;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::report::Format;

pub(crate) use queues::{LimitOf, Queues, QueuesList, QueuesSet};
pub(crate) use running::{
    Breaks, BreaksForm, Cancel, Check, Door, Events, Init, Interval, List, Places, Retry, Run, Runs, Serve,
    Show, StatusOf, Tail, Work, Worker,
};

/// Compares tables exactly, fast and within a memory cap.
#[derive(Debug, Parser)]
#[command(name = "trueup", version)]
pub(crate) struct Trueup {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What `trueup` does.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compares two or more tables
    #[command(after_help = EXITS, allow_negative_numbers = true)]
    Diff(Box<Diff>),
    /// Carries out one attempt at a run, for the process that started it
    #[command(hide = true)]
    Attempt,
    /// Runs a job: saves it, compares, and reports
    #[command(after_help = RUN_EXITS)]
    Run(Run),
    /// Says what is wrong with a job, without running it
    #[command(after_help = "Exits with 0 when nothing is wrong, 2 otherwise.")]
    Check(Check),
    /// Writes a job with data that runs, to start from
    Init(Init),
    /// Prints the JSON Schema of jobs, for editors
    Schema,
    /// Runs jobs that are asked for, and looks after all runs of a store
    #[command(after_help = SERVING)]
    Serve(Serve),
    /// Executes runs that a server hands off
    #[command(after_help = SERVING)]
    Worker(Worker),
    /// Lists, shows, cancels and retries runs, and prints their breaks
    #[command(subcommand)]
    Runs(Runs),
    /// Lists queues, makes them and limits them
    #[command(subcommand)]
    Queues(Queues),
    /// Looks at the log of what happened to runs
    #[command(subcommand)]
    Events(Events),
    /// Shows the store, its queues, and what background tasks did last
    Status(StatusOf),
    /// Looks after the log of who did what
    #[command(subcommand)]
    Audit(Audit),
}

impl Command {
    /// The store that it is for, if it is for one.
    pub(crate) fn places(&self) -> Option<&Places> {
        match self {
            Self::Diff(_) | Self::Init(_) | Self::Attempt | Self::Check(_) | Self::Schema => None,
            Self::Run(options) => Some(&options.places),
            Self::Serve(options) => Some(&options.places),
            Self::Worker(options) => Some(&options.places),
            Self::Runs(Runs::List(options)) => Some(&options.places),
            Self::Runs(Runs::Show(options)) => Some(&options.places),
            Self::Runs(Runs::Cancel(options)) => Some(&options.places),
            Self::Runs(Runs::Retry(options)) => Some(&options.places),
            Self::Runs(Runs::Breaks(options)) => Some(&options.places),
            Self::Queues(Queues::List(options)) => Some(&options.places),
            Self::Queues(Queues::Set(options)) => Some(&options.places),
            Self::Events(Events::Tail(options)) => Some(&options.places),
            Self::Status(options) => Some(&options.places),
            Self::Audit(Audit::Verify(options)) => Some(&options.places),
        }
    }
}

/// What `trueup audit` does.
#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Checks that no entry was changed or removed
    #[command(
        after_help = "Exits with 0 when every entry is as it was written, 1 when one was changed or removed, 2 for an error."
    )]
    Verify(Verify),
}

/// What `trueup audit verify` takes.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Where.
    #[command(flatten)]
    pub(crate) places: Places,

    /// The head that an earlier check printed; if entries were cut off since then, it is missing now
    #[arg(long, value_name = "HASH")]
    pub(crate) expect: Option<trueup_store::Head>,

    /// Prints one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

const RUN_EXITS: &str = "Ctrl-C cancels the run and waits for it; pressed again, it ends at once.\n\
    Exits with 0 for MATCHED, 1 for UNMATCHED, 2 for an error, 130 when interrupted or cancelled.";

const SERVING: &str = "Ctrl-C ends it: runs under way are finished or handed back within 10 seconds. Pressed again, it ends at once.\n\
    Exits with 130 when interrupted, 2 for an error.";

const EXITS: &str = "SRC is a source's name, or its number from 0. Options that list things can be repeated, or take a list with commas.\n\
    Exits with 0 for MATCHED, 1 for UNMATCHED, 2 for an error, 130 when interrupted.";

/// What `trueup diff` takes.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// Files, directories, globs, or - for standard input: CSV, TSV, JSON lines, Parquet or Arrow, also .gz and .zst
    #[arg(required = true, num_args = 1.., value_name = "[NAME=]PATH")]
    pub(crate) sources: Vec<String>,

    /// Columns that tell rows apart; without any, those that could are listed
    #[arg(short, long, value_name = "COL,…", help_heading = "What to compare")]
    pub(crate) key: Vec<String>,

    /// An aggregate per key instead of each row: sum, count, count_distinct, min, max, avg or value
    #[arg(short, long, value_name = "[NAME=]AGG(COL)", help_heading = "What to compare")]
    pub(crate) measure: Vec<String>,

    /// Only these columns
    #[arg(long, value_name = "COL,…", conflicts_with = "measure", help_heading = "What to compare")]
    pub(crate) compare: Vec<String>,

    /// All columns but these
    #[arg(long, value_name = "COL,…", help_heading = "What to compare")]
    pub(crate) ignore: Vec<String>,

    /// Gives a column of one source another name
    #[arg(long, value_name = "SRC:FROM=TO", help_heading = "What to compare")]
    pub(crate) rename: Vec<String>,

    /// How far values may be apart: 0.01, 0.5%, 2d, -1d..+3d or exact; then ,base=larger|smaller|mean|SRC and ,allow=N|N%
    #[arg(short, long, value_name = "COL=RULE", help_heading = "What counts as equal")]
    pub(crate) tolerance: Vec<String>,

    /// What is done to text first: trim, collapse_space, casefold, nfc
    #[arg(long, alias = "normalize", value_name = "COL=HOW,…", help_heading = "What counts as equal")]
    pub(crate) normalise: Vec<String>,

    /// Columns where 1, yes, y, t and true are the same, and so are their opposites
    #[arg(long, value_name = "COL,…", help_heading = "What counts as equal")]
    pub(crate) boolean: Vec<String>,

    /// Columns that are text, whatever they look like: ids, numerals of more than 38 digits
    #[arg(long, value_name = "COL,…", help_heading = "What counts as equal")]
    pub(crate) text: Vec<String>,

    /// How dates in a text column are written, such as %d/%m/%Y
    #[arg(long, value_name = "[SRC:]COL=FMT", help_heading = "What counts as equal")]
    pub(crate) date_format: Vec<String>,

    /// The zone of times that carry none, such as Europe/Berlin or +01:00
    #[arg(
        long,
        value_name = "[SRC:]ZONE",
        allow_hyphen_values = true,
        help_heading = "What counts as equal"
    )]
    pub(crate) timezone: Vec<String>,

    /// What to do with keys that repeat
    #[arg(long, value_enum, help_heading = "What counts as equal")]
    pub(crate) duplicates: Option<DuplicatePolicy>,

    /// The source that the others are held against; without one, the two furthest apart count
    #[arg(long, value_name = "SRC", help_heading = "What counts as equal")]
    pub(crate) reference: Option<String>,

    /// Decide everything by value, never by fingerprint
    #[arg(long, help_heading = "What counts as equal")]
    pub(crate) verify: bool,

    /// How the report is written; otherwise by the extension of --output, or as a table
    #[arg(short, long, value_enum, help_heading = "Results")]
    pub(crate) format: Option<Format>,

    /// Writes the report to a file; - is standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Results")]
    pub(crate) output: Option<PathBuf>,

    /// Writes every break to a file: .parquet, .csv or .jsonl
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub(crate) breaks: Option<PathBuf>,

    /// How many breaks the report shows
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Results")]
    pub(crate) limit: usize,

    /// When to use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", help_heading = "Results")]
    pub(crate) color: Colours,

    /// No progress, and no verdict beside --output
    #[arg(short, long, help_heading = "Results")]
    pub(crate) quiet: bool,

    /// What the files are: csv, tsv, jsonl, parquet, arrow or excel; otherwise detected
    #[arg(long, value_name = "[SRC:]FORMAT", help_heading = "How files are read")]
    pub(crate) input_format: Vec<String>,

    /// What is between fields: one character, or tab; otherwise detected
    #[arg(long, value_name = "[SRC:]CHAR", help_heading = "How files are read")]
    pub(crate) delimiter: Vec<String>,

    /// What is around fields: one character; otherwise detected
    #[arg(long, value_name = "[SRC:]CHAR", help_heading = "How files are read")]
    pub(crate) quote: Vec<String>,

    /// The sheet of Excel files; otherwise the first
    #[arg(long, value_name = "[SRC:]NAME", help_heading = "How files are read")]
    pub(crate) sheet: Vec<String>,

    /// The encoding of text files, such as latin1; otherwise by byte order mark, or UTF-8
    #[arg(long, value_name = "[SRC:]LABEL", help_heading = "How files are read")]
    pub(crate) encoding: Vec<String>,

    /// What an empty CSV field is: quoted (NULL unless quoted), null, or text
    #[arg(long, value_name = "[SRC:]MEANING", help_heading = "How files are read")]
    pub(crate) empty: Vec<String>,

    /// CSV files, or those of the sources named, have a header; otherwise detected
    #[arg(long, value_name = "SRC,…", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "How files are read")]
    pub(crate) header: Vec<String>,

    /// CSV files, or those of the sources named, have no header; columns are column_0, column_1, …
    #[arg(long, value_name = "SRC,…", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "How files are read")]
    pub(crate) no_header: Vec<String>,

    /// How much memory to use: 2GB, 512MiB, or a share of what is free
    #[arg(long, value_name = "SIZE", default_value = "60%", help_heading = "Cost")]
    pub(crate) memory: String,

    /// How many threads to use; one per processor by default
    #[arg(long, value_name = "N", help_heading = "Cost")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
}

/// What to do with keys that repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DuplicatePolicy {
    /// Take all rows of a key together, as a --measure says, and the default with one.
    Aggregate,
    /// Pair equal rows, then those with fewest differences; the default without.
    Multiset,
    /// Stop with an error.
    Error,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colours {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
