//! `trueup runs`: looks at runs, ends them, and asks for them again.

mod breaks;
mod cancel;
mod find;
mod form;
mod list;
mod retry;
mod show;

use std::process::ExitCode;

use crate::arguments::Runs;
use crate::failure::Failure;

pub(crate) use find::find;
pub(crate) use form::{json, moment, span};

/// Does what was asked for.
pub(crate) fn run(options: &Runs) -> Result<ExitCode, Failure> {
    match options {
        Runs::List(options) => list::list(options),
        Runs::Show(options) => show::show(options),
        Runs::Cancel(options) => cancel::cancel(options),
        Runs::Retry(options) => retry::retry(options),
        Runs::Breaks(options) => breaks::breaks(options),
    }
}
