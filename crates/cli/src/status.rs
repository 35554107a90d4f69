//! `trueup status`: the store, its queues, and what background tasks did last.

use std::process::ExitCode;

use serde_json::json;
use trueup_control::is_of_servers;
use trueup_store::Pass;

use crate::arguments::{Colours, StatusOf};
use crate::failure::Failure;
use crate::place::{self, Home};
use crate::report::text_grid::{Field, lines};
use crate::runs::{moment, span};
use crate::visible::visible;
use crate::{output, queues, terminal};

/// How long no server may report before that is worth a word: several times as long as the least frequent of its tasks takes by default.
const SILENT_MS: i64 = 120_000;

/// Prints what there is to know.
pub(crate) fn status(options: &StatusOf) -> Result<ExitCode, Failure> {
    let home = Home::of(&options.places)?;
    let (schema, queues, passes, now_ms) = place::look(&options.places, async |store, tenant_id| {
        let (queues, passes) = (store.queues(tenant_id).await?, store.passes().await?);
        Ok((store.schema(), queues, passes, store.now_ms().await?))
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
    let again = place::again(&options.places);
    let tasks = if passes.is_empty() {
        format!("no background task has reported yet: `trueup serve{again}` runs them\n")
    } else {
        let table = lines(&headings, &rows, usize::MAX, marks);
        format!("Background tasks\n{table}{}", silence(&passes, now_ms, &again))
    };
    output::say(&format!("{head}\nQueues\n{queues}\n{tasks}"))
}

/// Says that no server has reported for long, if so; workers alone submit nothing, and notice no loss.
fn silence(passes: &[Pass], now_ms: i64, again: &str) -> String {
    if !is_without_server(passes, now_ms) {
        return String::new();
    }
    let ago = last_of_servers(passes).map(|last_ms| format!(" for {}", span(now_ms - last_ms)));
    let ago = ago.unwrap_or_default();
    format!("\nno server has been heard of{ago}: nothing moves unless `trueup serve{again}` runs\n")
}

/// Whether no server has reported for so long that there may be none.
pub(crate) fn is_without_server(passes: &[Pass], now_ms: i64) -> bool {
    last_of_servers(passes).is_none_or(|last_ms| now_ms - last_ms >= SILENT_MS)
}

/// When a server last reported, by the store's clock.
fn last_of_servers(passes: &[Pass]) -> Option<i64> {
    passes.iter().filter(|pass| is_of_servers(&pass.task)).map(|pass| pass.at_ms).max()
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
