//! `trueup runs list`: runs, the latest first.

use std::process::ExitCode;

use serde_json::Value;
use trueup_lifecycle::{Finished, State};
use trueup_store::RunFilter;

use super::find::{JobNames, find_job};
use super::form;
use crate::arguments::{Colours, List};
use crate::failure::Failure;
use crate::report::text_grid::{Field, lines};
use crate::{output, place, terminal};

/// Lists what was asked for.
pub(crate) fn list(options: &List) -> Result<ExitCode, Failure> {
    let runs = place::look(&options.places, async |store, tenant_id| {
        let job_id = match &options.job {
            Some(name) => Some(find_job(store, tenant_id, name).await?.id),
            None => None,
        };
        let statuses = options.status.clone();
        let filter = RunFilter { statuses, job_id, ..RunFilter::of(tenant_id, options.limit) };
        let records = store.runs(&filter).await?;
        let mut names = JobNames::default();
        let mut runs = Vec::with_capacity(records.len());
        for record in records {
            let job = names.of(store, &record).await?;
            runs.push((record, job));
        }
        Ok(runs)
    })?;
    if options.json {
        let list: Vec<Value> = runs.iter().map(|(record, job)| form::json(record, job)).collect();
        return output::say(&format!("{}\n", Value::from(list)));
    }
    if runs.is_empty() {
        eprintln!("there are no such runs");
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<Field>> = (runs.iter())
        .map(|(record, job)| {
            let took = match &record.run.state {
                State::Finished(Finished { at_ms, .. }) => form::span(at_ms - record.requested_at_ms),
                _ => String::new(),
            };
            vec![
                Field::name(record.id().to_string()),
                Field::name(job),
                Field::name(form::moment(record.requested_at_ms)),
                Field::number(took),
                Field::text(record.run.state.status().name()),
                Field::text(form::ending(record)),
            ]
        })
        .collect();
    let headings = ["run", "job", "requested", "took", "status", "outcome"];
    let (width, marks) = (terminal::width_of_stdout(), terminal::look_of_stdout(Colours::Auto).marks());
    output::say(&lines(&headings, &rows, width.unwrap_or(usize::MAX), marks))
}
