//! The command line of what looks after queues.

use clap::{Args, Subcommand};
use trueup_job::parse_name;

use super::Places;

/// What `trueup queues` does.
#[derive(Debug, Subcommand)]
pub(crate) enum Queues {
    /// Lists queues, with their limits and what is in them
    List(QueuesList),
    /// Makes a queue, or changes its limits
    Set(QueuesSet),
}

/// What `trueup queues list` takes.
#[derive(Debug, Args)]
pub(crate) struct QueuesList {
    /// Where.
    #[command(flatten)]
    pub(crate) places: Places,

    /// Prints one JSON list
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `trueup queues set` takes.
#[derive(Debug, Args)]
pub(crate) struct QueuesSet {
    /// The queue, as jobs name it
    #[arg(value_name = "NAME", value_parser = parse_name)]
    pub(crate) queue: String,

    /// How many of its runs may be under way at once, at least 1, or none for no limit; left as it is unless given
    #[arg(long, value_name = "N", value_parser = max_running)]
    pub(crate) max_running: Option<LimitOf>,

    /// How many of its runs may wait, or none for no limit; left as it is unless given
    #[arg(long, value_name = "N", value_parser = max_waiting)]
    pub(crate) max_waiting: Option<LimitOf>,

    /// Where.
    #[command(flatten)]
    pub(crate) places: Places,
}

/// A limit of a queue; none is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LimitOf(pub Option<u32>);

fn max_running(text: &str) -> Result<LimitOf, String> {
    limit(text, 1)
}

fn max_waiting(text: &str) -> Result<LimitOf, String> {
    limit(text, 0)
}

fn limit(text: &str, least: u32) -> Result<LimitOf, String> {
    if text == "none" {
        return Ok(LimitOf(None));
    }
    let number = text.parse().ok().filter(|number| *number >= least);
    number
        .map(|number| LimitOf(Some(number)))
        .ok_or_else(|| format!("expected a whole number from {least}, or none"))
}
