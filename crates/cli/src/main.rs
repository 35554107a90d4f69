//! `trueup`: says how N tables differ.

mod arguments;
mod break_columns;
mod diff;
mod failure;
mod interrupt;
mod memory;
mod output;
mod progress;
mod report;
mod source_names;
mod source_table;
mod specification;
mod terminal;
mod tolerance;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Command, Trueup};

fn main() -> ExitCode {
    let arguments = Trueup::parse();
    match arguments.command {
        Command::Diff(options) => match diff::run(&options) {
            Ok(code) => code,
            Err(failure) => failure.report(terminal::colours_on_stderr(options.color)),
        },
    }
}
