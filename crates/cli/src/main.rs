//! `trueup`: says how N tables differ, and looks after what is remembered of runs.

mod arguments;
mod attempt;
mod audit;
mod diff;
mod failure;
mod interrupt;
mod memory;
mod output;
mod panics;
mod progress;
mod reading_hint;
mod report;
mod source_names;
mod specification;
mod targets;
mod terminal;
mod tolerance;
mod visible;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Audit, Colours, Command, Trueup};

fn main() -> ExitCode {
    panics::leave_out_those_of_decoders();
    let arguments = Trueup::parse();
    match arguments.command {
        Command::Diff(options) => match diff::run(&options) {
            Ok(code) => code,
            Err(failure) => failure.report(terminal::colours_on_stderr(options.color)),
        },
        Command::Attempt => attempt::run(),
        Command::Audit(Audit::Verify(options)) => match audit::verify(&options) {
            Ok(code) => code,
            Err(failure) => failure.report(terminal::colours_on_stderr(Colours::Auto)),
        },
    }
}
