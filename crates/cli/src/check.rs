//! `trueup check`: a job without a run of it, and what its sources would be read as.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use trueup_compare::Limits;
use trueup_events::outcome::{Reason, RunError};
use trueup_job::{Arguments, Job};
use trueup_reconcile::{Looked, Work};

use crate::arguments::{Check, Colours};
use crate::failure::Failure;
use crate::report::counted;
use crate::report::text_grid::{Field, Marks, lines};
use crate::visible::visible;
use crate::{job_file, memory, output, terminal};

/// Checks a job and says how to exit.
pub(crate) fn check(options: &Check) -> Result<ExitCode, Failure> {
    let job = job_file::read(&options.job)?;
    let arguments = job_file::arguments(&job, &options.params)?;
    let looked = look(&job, &arguments, options.connect)
        .map_err(|error| Failure::Check { path: options.job.clone(), error })?;
    if options.json {
        let sources: Vec<_> = looked.iter().map(source_json).collect();
        let job = json!({ "job": job.name, "sources": sources });
        return output::say(&format!("{job}\n"));
    }
    let is_coloured = terminal::look_of_stdout(Colours::Auto).colour;
    let marks = if is_coloured { Marks::Colours } else { Marks::Carets };
    let sources: String = looked.iter().map(|looked| source_table(looked, marks)).collect();
    let (sources_count, stages) = (job.sources.len() as u64, job.stages.len() as u64);
    let head = format!("{}: {}, {}", job.name, counted(sources_count, "source"), counted(stages, "stage"));
    output::say(&format!("{head}, nothing wrong\n{sources}"))
}

/// What is found without a comparison: only what cannot be carried out, or all that the sources say.
fn look(job: &Job, arguments: &Arguments, connect: bool) -> Result<Vec<Looked>, RunError> {
    let memory = memory::of_job(job.memory, memory::free);
    let limits = Limits {
        memory: memory.ok_or_else(|| RunError::new(Reason::InvalidJob, memory::TOO_LITTLE))?,
        threads: 1,
        temp_dir: std::env::temp_dir(),
    };
    let work = Work {
        job,
        arguments,
        look_up: &|reference| if connect { job_file::look_up(reference) } else { Ok(String::new()) },
        limits: &limits,
        breaks_dir: Path::new(""),
        breaks_kept: 0,
        tick: std::time::Duration::MAX,
    };
    if connect { trueup_reconcile::look(&work) } else { trueup_reconcile::check(&work).map(|()| Vec::new()) }
}

fn source_table(looked: &Looked, marks: Marks) -> String {
    let row = |(name, kind): &(String, &str)| vec![Field::text(visible(name)), Field::text(*kind)];
    let rows: Vec<Vec<Field>> = looked.columns.iter().map(row).collect();
    let columns = lines(&["column", "type"], &rows, usize::MAX, marks);
    format!("\n{}: {}\n{columns}", looked.source, looked.described)
}

fn source_json(looked: &Looked) -> serde_json::Value {
    let column = |(name, kind): &(String, &str)| json!({ "name": name, "type": kind });
    let columns: Vec<_> = looked.columns.iter().map(column).collect();
    json!({ "source": looked.source, "read_as": looked.described, "columns": columns })
}
