//! `trueup queues`: queues, how much of what they may hold, and what they do.

use std::process::ExitCode;

use serde_json::{Value, json};
use trueup_lifecycle::Limits;
use trueup_store::{Options, QueueLoad, Role};

use crate::arguments::{Colours, LimitOf, Queues, QueuesList, QueuesSet};
use crate::failure::Failure;
use crate::place::{self, Home};
use crate::report::text_grid::{Field, lines};
use crate::{output, runtime, terminal, who};

/// Does what was asked for.
pub(crate) fn run(options: &Queues) -> Result<ExitCode, Failure> {
    match options {
        Queues::List(options) => list(options),
        Queues::Set(options) => set(options),
    }
}

fn list(options: &QueuesList) -> Result<ExitCode, Failure> {
    let queues = place::look(&options.places, async |store, tenant_id| Ok(store.queues(tenant_id).await?))?;
    if options.json {
        return output::say(&format!("{}\n", json(&queues)));
    }
    output::say(&table(&queues))
}

/// Changes the limits that were given; makes the store, too, since a queue has to be there before the first run in it.
fn set(options: &QueuesSet) -> Result<ExitCode, Failure> {
    let home = Home::of(&options.places)?;
    let limits = runtime::block_on(async {
        let (store, tenant_id) = home.open(Role::Command, Options::default()).await?;
        let queues = store.queues(tenant_id).await?;
        let present = queues.iter().find(|load| load.queue == options.queue).map(|load| load.limits);
        let present = present.unwrap_or_default();
        let wanted = |given: Option<LimitOf>, present| given.map_or(present, |LimitOf(limit)| limit);
        let limits = Limits {
            max_running: wanted(options.max_running, present.max_running),
            max_waiting: wanted(options.max_waiting, present.max_waiting),
        };
        store.set_queue(tenant_id, &options.queue, limits, &who::user()).await?;
        store.close().await?;
        Ok::<_, Failure>(limits)
    })?;
    let shown = |limit: Option<u32>| limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
    let (running, waiting) = (shown(limits.max_running), shown(limits.max_waiting));
    output::say(&format!("{}: max running {running}, max waiting {waiting}\n", options.queue))
}

/// Queues below each other, for people.
pub(crate) fn table(queues: &[QueueLoad]) -> String {
    let headings = ["queue", "waiting", "max waiting", "scheduled", "running", "max running"];
    let rows: Vec<Vec<Field>> = queues.iter().map(row).collect();
    lines(&headings, &rows, usize::MAX, terminal::look_of_stdout(Colours::Auto).marks())
}

fn row(load: &QueueLoad) -> Vec<Field> {
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

/// Queues as one JSON list.
pub(crate) fn json(queues: &[QueueLoad]) -> Value {
    let queue = |load: &QueueLoad| {
        json!({
            "queue": load.queue,
            "max_running": load.limits.max_running,
            "max_waiting": load.limits.max_waiting,
            "waiting": load.waiting,
            "scheduled": load.scheduled,
            "running": load.running,
        })
    };
    queues.iter().map(queue).collect()
}
