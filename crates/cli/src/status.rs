//! `trueup status`: the store, its queues, and what background tasks did last.

use std::process::ExitCode;

use serde_json::json;
use trueup_store::{Pass, QueueLoad};

use crate::arguments::{Colours, StatusOf};
use crate::failure::Failure;
use crate::place::{self, Home};
use crate::report::text_grid::{Field, Marks, lines};
use crate::runs::{moment, span};
use crate::visible::visible;
use crate::{output, terminal};

/// Prints what there is to know.
pub(crate) fn status(options: &StatusOf) -> Result<ExitCode, Failure> {
    let home = Home::of(&options.places)?;
    let (schema, queues, passes) = place::visit(&options.places, async |store, tenant_id| {
        Ok((store.schema(), store.queues(tenant_id).await?, store.passes().await?))
    })?;
    if options.json {
        let queues: Vec<_> = queues.iter().map(queue_json).collect();
        let tasks: Vec<_> = passes.iter().map(task_json).collect();
        let store = json!({ "place": home.store.to_string(), "schema": schema });
        let files = home.runs_dir.display().to_string();
        let status = json!({ "store": store, "files": files, "queues": queues, "tasks": tasks });
        return output::say(&format!("{status}\n"));
    }
    let colour = terminal::look_of_stdout(Colours::Auto).colour;
    let marks = if colour { Marks::Colours } else { Marks::Carets };
    let head = format!("store  {}, schema {schema}\nfiles  {}\n", home.store, home.runs_dir.display());
    let headings = ["queue", "waiting", "max waiting", "scheduled", "running", "max running"];
    let rows: Vec<Vec<Field>> = queues.iter().map(queue_row).collect();
    let queues = lines(&headings, &rows, usize::MAX, marks);
    let headings = ["task", "process", "last pass", "took", "seen", "done", "note"];
    let rows: Vec<Vec<Field>> = passes.iter().map(task_row).collect();
    let tasks = match rows.len() {
        0 => "no background task has reported yet: `trueup serve` runs them\n".to_owned(),
        _ => format!("Background tasks\n{}", lines(&headings, &rows, usize::MAX, marks)),
    };
    output::say(&format!("{head}\nQueues\n{queues}\n{tasks}"))
}

fn queue_row(load: &QueueLoad) -> Vec<Field> {
    let limit = |limit: Option<u32>| limit.map_or_else(|| "-".to_owned(), |limit| limit.to_string());
    vec![
        Field::text(&load.queue),
        Field::number(load.waiting.to_string()),
        Field::number(limit(load.limits.max_waiting)),
        Field::number(load.scheduled.to_string()),
        Field::number(load.running.to_string()),
        Field::number(limit(load.limits.max_running)),
    ]
}

fn queue_json(load: &QueueLoad) -> serde_json::Value {
    json!({
        "queue": load.queue,
        "max_running": load.limits.max_running,
        "max_waiting": load.limits.max_waiting,
        "waiting": load.waiting,
        "scheduled": load.scheduled,
        "running": load.running,
    })
}

fn task_row(pass: &Pass) -> Vec<Field> {
    vec![
        Field::text(&pass.task),
        Field::text(&pass.instance),
        Field::text(moment(pass.at_ms)),
        Field::number(span(pass.took_ms)),
        Field::number(pass.seen.to_string()),
        Field::number(pass.done.to_string()),
        Field::text(pass.note.as_deref().map(visible).unwrap_or_default()),
    ]
}

fn task_json(pass: &Pass) -> serde_json::Value {
    json!({
        "task": pass.task,
        "process": pass.instance,
        "at": moment(pass.at_ms),
        "took_ms": pass.took_ms,
        "seen": pass.seen,
        "done": pass.done,
        "note": pass.note,
    })
}
