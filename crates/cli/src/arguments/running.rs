//! The command line of what runs jobs, and looks at their runs.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use tracing_subscriber::filter::LevelFilter;
use trueup_job::{DurationError, parse_duration, parse_limit};
use trueup_lifecycle::Status;

/// Which store, and where the files of runs are.
#[derive(Debug, Args)]
pub(crate) struct Places {
    // A text here and a place later: what is no place is not shown with the password that it may have.
    /// The store: sqlite:PATH or postgres://USER@HOST/DATABASE; a file in your data directory by default
    #[arg(long, value_name = "STORE", env = "TRUEUP_STORE", hide_env_values = true, help_heading = "Store")]
    pub(crate) store: Option<String>,

    /// Where runs leave their files; beside a SQLite store by default, otherwise in your data directory
    #[arg(long, value_name = "DIR", env = "TRUEUP_DATA_DIR", help_heading = "Store")]
    pub(crate) data_dir: Option<PathBuf>,
}

/// What `trueup run` takes.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The job: YAML or JSON; relative paths in it start at its folder
    #[arg(value_name = "JOB.YAML")]
    pub(crate) job: PathBuf,

    /// A parameter of the job
    #[arg(long = "param", short, value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,

    /// Where.
    #[command(flatten)]
    pub(crate) places: Places,

    /// No progress, and nothing but the verdict
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Prints the run as one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// What to log to standard error: off, error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", env = "TRUEUP_LOG", default_value = "warn")]
    pub(crate) log: LevelFilter,
}

/// What `trueup init` takes.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder, made if it is not there; nothing in it is overwritten
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
}

/// What `trueup check` takes.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The job: YAML or JSON; relative paths in it start at its folder
    #[arg(value_name = "JOB.YAML")]
    pub(crate) job: PathBuf,

    /// A parameter of the job
    #[arg(long = "param", short, value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,

    /// Tries every connection, query and file, and shows the columns of each source
    #[arg(long)]
    pub(crate) connect: bool,

    /// Prints one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `trueup serve` takes.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where.
    #[command(flatten)]
    pub(crate) places: Places,

    /// Where it listens.
    #[command(flatten)]
    pub(crate) door: Door,

    /// How it works.
    #[command(flatten)]
    pub(crate) work: Work,

    /// How often to look for runs that nobody said anything about; 0 turns that off
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = interval, help_heading = "Times")]
    pub(crate) reconcile_interval: Interval,

    /// How old a claim must be before it counts as stale
    #[arg(long, value_name = "TIME", default_value = "300s", value_parser = parse_limit, help_heading = "Times")]
    pub(crate) reconcile_grace: Duration,
}

/// Where a server listens.
#[derive(Debug, Args)]
pub(crate) struct Door {
    /// The address and port of the API; port 0 takes any that is free
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "TRUEUP_LISTEN",
        default_value = "127.0.0.1:7400",
        help_heading = "API"
    )]
    pub(crate) listen: SocketAddr,

    /// Lets it listen elsewhere than on this machine without encryption, for where something in front of it encrypts
    #[arg(long, env = "TRUEUP_INSECURE", help_heading = "API")]
    pub(crate) insecure: bool,
}

/// What `trueup worker` takes.
#[derive(Debug, Args)]
pub(crate) struct Worker {
    /// Where.
    #[command(flatten)]
    pub(crate) places: Places,

    /// How it works.
    #[command(flatten)]
    pub(crate) work: Work,
}

/// How runs are executed.
#[derive(Debug, Args)]
pub(crate) struct Work {
    /// What this process is called in reports and in the audit log; no other may have the name while it lives
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// How many runs to execute at once; half as many as there are processors by default, 0 for none
    #[arg(long, value_name = "N")]
    pub(crate) places: Option<u32>,

    /// How long a worker may be silent before its runs count as lost; the same for all processes on a store
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_limit, help_heading = "Times")]
    pub(crate) lease: Duration,

    /// How long runs, their events and their files are kept after their end; the same for all processes on a store
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = parse_duration, help_heading = "Times")]
    pub(crate) retention: Duration,

    /// How much memory a run may use, unless its job says so: 2GB, 512MiB, 20%; 60% of what is free by default, shared by the places
    #[arg(long, value_name = "SIZE", help_heading = "Cost")]
    pub(crate) memory: Option<String>,

    /// How many threads a run may use, unless its job says so; the processors shared by the places by default
    #[arg(long, value_name = "N", help_heading = "Cost")]
    pub(crate) threads: Option<NonZeroUsize>,

    /// What to log to standard error: off, error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", env = "TRUEUP_LOG", default_value = "info")]
    pub(crate) log: LevelFilter,
}

/// How often something is done; none is never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interval(pub Option<Duration>);

fn interval(text: &str) -> Result<Interval, DurationError> {
    let interval = parse_duration(text)?;
    Ok(Interval(Some(interval).filter(|interval| !interval.is_zero())))
}

/// What `trueup runs` does.
#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// Lists runs, the latest first
    List(List),
    /// Shows all that is known of a run
    Show(Show),
    /// Cancels a run, or asks its worker to stop
    Cancel(Cancel),
    /// Runs jobs again with the parameters that earlier runs had, as the jobs are now
    Retry(Retry),
    /// Prints the breaks that a run found
    Breaks(Breaks),
}

/// What `trueup runs list` takes.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Where.
    #[command(flatten)]
    pub(crate) places: Places,

    /// Only runs of this job
    #[arg(long, value_name = "JOB")]
    pub(crate) job: Option<String>,

    /// Only runs that are so: requested, scheduling, scheduled, running, completed, failed, timeout, cancelled or abandoned
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = status)]
    pub(crate) status: Vec<Status>,

    /// No more than so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: u32,

    /// Prints one JSON list
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `trueup runs show` takes.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The run, by its id or the start of it
    #[arg(value_name = "RUN")]
    pub(crate) run: String,

    /// Where.
    #[command(flatten)]
    pub(crate) places: Places,

    /// Prints one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `trueup runs cancel` takes.
#[derive(Debug, Args)]
pub(crate) struct Cancel {
    /// The run, by its id or the start of it
    #[arg(value_name = "RUN")]
    pub(crate) run: String,

    /// Where.
    #[command(flatten)]
    pub(crate) places: Places,

    /// Why, for those who ask later
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

/// What `trueup runs retry` takes.
#[derive(Debug, Args)]
pub(crate) struct Retry {
    /// The runs, by their ids or the starts of them
    #[arg(value_name = "RUN", required_unless_present = "status", conflicts_with = "status")]
    pub(crate) runs: Vec<String>,

    /// All runs that ended so and were not retried since: failed, timeout, cancelled or abandoned
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = status)]
    pub(crate) status: Vec<Status>,

    /// Only those of this job
    #[arg(long, value_name = "JOB", requires = "status")]
    pub(crate) job: Option<String>,

    /// Where.
    #[command(flatten)]
    pub(crate) places: Places,
}

/// What `trueup runs breaks` takes.
#[derive(Debug, Args)]
pub(crate) struct Breaks {
    /// The run, by its id or the start of it
    #[arg(value_name = "RUN")]
    pub(crate) run: String,

    /// The stage; need not be given when there is only one
    #[arg(long, value_name = "STAGE")]
    pub(crate) stage: Option<String>,

    /// How they are printed
    #[arg(long, short, value_enum, default_value = "table")]
    pub(crate) format: BreaksForm,

    /// No more than so many; 20 in a table by default, otherwise all
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,

    /// Where.
    #[command(flatten)]
    pub(crate) places: Places,
}

/// How breaks are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BreaksForm {
    /// For a terminal.
    Table,
    /// As a break file of CSV has them.
    Csv,
    /// One JSON object a line.
    Jsonl,
}

/// What `trueup events` does.
#[derive(Debug, Subcommand)]
pub(crate) enum Events {
    /// Prints the log of events, from its start or a position
    Tail(Tail),
}

/// What `trueup events tail` takes.
#[derive(Debug, Args)]
pub(crate) struct Tail {
    /// Where.
    #[command(flatten)]
    pub(crate) places: Places,

    /// Goes on with what happens from now on, until it is interrupted
    #[arg(long, short)]
    pub(crate) follow: bool,

    /// Only events of these types, such as run.finalised
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    pub(crate) types: Vec<String>,

    /// Only events of this run, by its id or the start of it
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,

    /// Only events after this position in the log
    #[arg(long, value_name = "POSITION", default_value_t = 0)]
    pub(crate) from: u64,

    /// Prints one structured CloudEvent a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `trueup status` takes.
#[derive(Debug, Args)]
pub(crate) struct StatusOf {
    /// Where.
    #[command(flatten)]
    pub(crate) places: Places,

    /// Prints one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

fn status(text: &str) -> Result<Status, String> {
    Status::named(text).ok_or_else(|| format!("expected one of {}", Status::ALL.map(Status::name).join(", ")))
}
