//! `trueup status`: the store, its queues, and what background tasks did last.

use std::process::ExitCode;

use serde_json::json;
use trueup_store::Pass;

use crate::arguments::{Colours, StatusOf};
use crate::failure::Failure;
use crate::place::{self, Home};
use crate::report::text_grid::{Field, lines};
use crate::runs::{moment, span};
use crate::visible::visible;
use crate::{output, queues, terminal};

/// Prints what there is to know.
pub(crate) fn status(options: &StatusOf) -> Result<ExitCode, Failure> {
    let home = Home::of(&options.places)?;
    let (schema, queues, passes) = place::visit(&options.places, async |store, tenant_id| {
        Ok((store.schema(), store.queues(tenant_id).await?, store.passes().await?))
    })?;
    if options.json {
        let queues = queues::json(&queues);
        let tasks: Vec<_> = passes.iter().map(task_json).collect();
        let store = json!({ "place": home.store.to_string(), "schema": schema });
        let files = home.runs_dir.display().to_string();
        let status = json!({ "store": store, "files": files, "queues": queues, "tasks": tasks });
        return output::say(&format!("{status}\n"));
    }
    let marks = terminal::look_of_stdout(Colours::Auto).marks();
    let head = format!("store  {}, schema {schema}\nfiles  {}\n", home.store, home.runs_dir.display());
    let queues = queues::table(&queues);
    let headings = ["task", "process", "last pass", "took", "seen", "done", "note"];
    let rows: Vec<Vec<Field>> = passes.iter().map(task_row).collect();
    let tasks = match rows.len() {
        0 => "no background task has reported yet: `trueup serve` runs them\n".to_owned(),
        _ => format!("Background tasks\n{}", lines(&headings, &rows, usize::MAX, marks)),
    };
    output::say(&format!("{head}\nQueues\n{queues}\n{tasks}"))
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
