//! What a run waits for before its turn comes.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::sleep;
use trueup_events::{RunId, TenantId};
use trueup_lifecycle::Status;
use trueup_store::{Record, RunFilter, Store, StoreError};

use crate::status::is_without_server;

/// How long a run may wait before that is worth a word.
const SOON: Duration = Duration::from_millis(1_500);
/// How many runs are read at a time.
const PAGE: u32 = 500;

/// Says once what stands before a run, if it waits for longer than a moment.
pub(super) async fn explain(store: &Store, tenant_id: TenantId, run_id: RunId, again: &str) -> Infallible {
    loop {
        sleep(SOON).await;
        match wait(store, tenant_id, run_id, again).await {
            Ok(wait) => {
                wait.iter().for_each(|line| eprintln!("{line}"));
                return std::future::pending().await;
            }
            Err(error) => tracing::debug!(%error, "what the run waits for is not known yet"),
        }
    }
}

/// What a run waits for, as people read it; nothing if it does not wait.
async fn wait(
    store: &Store,
    tenant_id: TenantId,
    run_id: RunId,
    again: &str,
) -> Result<Vec<String>, StoreError> {
    let record = store.run(tenant_id, run_id).await?.ok_or(StoreError::NoSuchRun(run_id))?;
    let queues = store.queues(tenant_id).await?;
    let is_limited =
        queues.iter().any(|queue| queue.queue == record.queue && queue.limits.max_running.is_some());
    if record.run.state.status() != Status::Requested || !is_limited {
        return Ok(Vec::new());
    }
    let ahead = ahead(store, &record).await?;
    let Some(first) = ahead.first() else { return Ok(Vec::new()) };
    let (count, runs) = (ahead.len(), if ahead.len() == 1 { "run" } else { "runs" });
    let (id, status) = (first.id(), first.run.state.status());
    let mut lines = vec![format!(
        "waiting in the queue {} behind {count} {runs}, the first of which, {id}, is {status}",
        record.queue
    )];
    // What runs has somebody who ends it; what waits may have lost whoever asked for it, which nobody can see.
    let waits = ahead.iter().find(|record| record.run.state.status() != Status::Running);
    if let Some(waits) = waits
        && is_without_server(&store.passes().await?, store.now_ms().await?)
    {
        let id = waits.id();
        lines.push(format!(
            "no server has been heard of that would move {id} on: start `trueup serve{again}`, or `trueup runs cancel {id}{again}`"
        ));
    }
    Ok(lines)
}

/// The runs of its queue that were asked for before a run and have not ended, in the order of the queue.
async fn ahead(store: &Store, record: &Record) -> Result<Vec<Record>, StoreError> {
    let mut filter = RunFilter {
        statuses: vec![Status::Requested, Status::Scheduling, Status::Scheduled, Status::Running],
        before: Some(record.number),
        ..RunFilter::of(record.run.ids.tenant_id, PAGE)
    };
    let mut ahead: Vec<Record> = Vec::new();
    loop {
        let page = store.runs(&filter).await?;
        let Some(last) = page.last() else { break };
        filter.before = Some(last.number);
        ahead.extend(page.into_iter().filter(|other| other.queue == record.queue));
    }
    ahead.reverse();
    Ok(ahead)
}
