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
use crate::{clock, output, queues, terminal};

/// How long no task may report before that is worth a word: several times as long as the least frequent of them takes by default.
const SILENT_MS: i64 = 120_000;

/// Prints what there is to know.
pub(crate) fn status(options: &StatusOf) -> Result<ExitCode, Failure> {
    let home = Home::of(&options.places)?;
    let (schema, queues, passes) = place::look(&options.places, async |store, tenant_id| {
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
    let tasks = match passes.iter().map(|pass| pass.at_ms).max() {
        None => "no background task has reported yet: `trueup serve` runs them\n".to_owned(),
        Some(last_ms) => {
            let table = lines(&headings, &rows, usize::MAX, marks);
            format!("Background tasks\n{table}{}", silence(clock::now_ms() - last_ms))
        }
    };
    output::say(&format!("{head}\nQueues\n{queues}\n{tasks}"))
}

/// Says that nobody has reported for long, if so.
fn silence(ms: i64) -> String {
    match ms {
        SILENT_MS.. => format!(
            "\nno server has been heard of for {}: nothing moves unless `trueup serve` runs\n",
            span(ms)
        ),
        _ => String::new(),
    }
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
