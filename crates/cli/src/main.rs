//! `trueup`: says how N tables differ, runs jobs that ask so, and looks after what is remembered of runs.

mod api;
mod arguments;
mod attempt;
mod audit;
mod check;
mod clock;
mod diff;
mod event_line;
mod events_tail;
mod failure;
mod fetching;
mod init;
mod interrupt;
mod job_file;
mod log;
mod memory;
mod output;
mod panics;
mod place;
mod progress;
mod queues;
mod reading_hint;
mod report;
mod run;
mod runs;
mod runtime;
mod serve;
mod shell;
mod source_names;
mod specification;
mod status;
mod story;
mod story_tables;
mod targets;
mod terminal;
mod tolerance;
mod visible;
mod who;

use std::process::ExitCode;

use clap::Parser;
use trueup_store::fail_point::{FailPoint, UnknownPoint};

use arguments::{Audit, Colours, Command, Events, Trueup};
use failure::Failure;

fn main() -> ExitCode {
    panics::leave_out_those_of_decoders();
    let arguments = Trueup::parse();
    if let Err(unknown) = arm_fail_point() {
        return Failure::usage(format!("TRUEUP_FAIL_POINT: {unknown}")).report(false, "");
    }
    let (done, colours) = match &arguments.command {
        Command::Diff(options) => (diff::run(options), options.color),
        Command::Attempt => (Ok(attempt::run()), Colours::Auto),
        Command::Run(options) => (run::run(options), Colours::Auto),
        Command::Check(options) => (check::check(options), Colours::Auto),
        Command::Init(options) => (init::init(options), Colours::Auto),
        Command::Schema => (output::say(&format!("{:#}\n", trueup_job::schema())), Colours::Auto),
        Command::Serve(options) => (serve::serve(options), Colours::Auto),
        Command::Worker(options) => (serve::work(options), Colours::Auto),
        Command::Runs(options) => (runs::run(options), Colours::Auto),
        Command::Queues(options) => (queues::run(options), Colours::Auto),
        Command::Events(Events::Tail(options)) => (events_tail::tail(options), Colours::Auto),
        Command::Status(options) => (status::status(options), Colours::Auto),
        Command::Audit(Audit::Verify(options)) => (audit::verify(options), Colours::Auto),
    };
    done.unwrap_or_else(|failure| {
        let store = arguments.command.places().map(place::again).unwrap_or_default();
        failure.report(terminal::colours_on_stderr(colours), &store)
    })
}

/// Holds the process at a boundary of a verb, for tests that kill it there.
fn arm_fail_point() -> Result<(), UnknownPoint> {
    match std::env::var("TRUEUP_FAIL_POINT") {
        Ok(point) => point.parse().map(FailPoint::arm),
        Err(_) => Ok(()),
    }
}
