//! What a run tells while it goes on, on the terminal.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use trueup_events::payload::Reading;
use trueup_events::{Event, RunId, TenantId};
use trueup_store::{Store, StoreError};

use crate::progress::{Bars, push_line, short};
use crate::story::{Stage, Story};

/// How many events are read at a time.
const PAGE: u32 = 1_000;

/// Lines that are being drawn; dropping them erases them.
pub(super) struct Live {
    _bars: Bars,
}

impl Live {
    /// Starts drawing what there is of a story.
    pub(super) fn draw(story: &Arc<Mutex<Story>>, width: usize) -> Self {
        let story = Arc::clone(story);
        Self { _bars: Bars::start(move |elapsed| frame(&read(&story), elapsed, width)) }
    }
}

/// Hears what a run tells for as long as it is polled.
pub(crate) async fn follow(
    store: &Store,
    tenant_id: TenantId,
    run_id: RunId,
    story: &Mutex<Story>,
) -> Infallible {
    let mut changes = store.changes();
    let mut position = 0;
    loop {
        // Before reading: what comes after is a change again.
        changes.mark_unchanged();
        let heard = catch_up(store, tenant_id, run_id, &mut position, |event| read(story).hear(event)).await;
        if let Err(error) = heard {
            tracing::debug!(%error, "what the run tells is not shown for now");
        }
        if changes.changed().await.is_err() {
            // The store is closing; whoever waits for the run is told.
            return std::future::pending().await;
        }
    }
}

/// Hears what a run has told after a position, and moves that on.
pub(super) async fn catch_up(
    store: &Store,
    tenant_id: TenantId,
    run_id: RunId,
    position: &mut u64,
    mut hear: impl FnMut(&Event),
) -> Result<(), StoreError> {
    loop {
        let page = store.events_of(tenant_id, run_id, *position, PAGE).await?;
        page.iter().for_each(&mut hear);
        match page.last().and_then(|event| event.position) {
            Some(last) => *position = last,
            None => return Ok(()),
        }
    }
}

/// A story is heard event by event, so what a panicking thread left behind is as good as any.
fn read(story: &Mutex<Story>) -> MutexGuard<'_, Story> {
    story.lock().unwrap_or_else(PoisonError::into_inner)
}

fn frame(story: &Story, elapsed: Duration, width: usize) -> String {
    let names = story.sources.iter().map(|source| &source.name).chain(story.stages.iter().map(|it| &it.name));
    let longest = names.map(|name| name.chars().count()).max().unwrap_or(0);
    let mut frame = String::new();
    for source in &story.sources {
        let state = match (source.rows, &source.error) {
            (_, Some(error)) => error.clone(),
            (Some(rows), None) => format!("{:>9} rows", short(rows as f64)),
            (None, None) => format!("reading{}", source.came.as_ref().map(came).unwrap_or_default()),
        };
        push_line(&mut frame, &format!("{:longest$}  {state}", source.name), width);
    }
    for stage in &story.stages {
        let rows = short(stage.rows as f64);
        push_line(&mut frame, &format!("{:longest$}  {rows:>9} rows  {}", stage.name, state(stage)), width);
    }
    let doing = if story.sources.is_empty() { "waiting" } else { "running" };
    push_line(&mut frame, &format!("{doing}, {:.1} s", elapsed.as_secs_f64()), width);
    frame
}

fn came(reading: &Reading) -> String {
    let rows = reading.rows_read.map(|rows| format!(", {} rows", short(rows as f64)));
    let expected = reading.bytes_expected.map(|bytes| format!(" of {}", short(bytes as f64)));
    let bytes = reading
        .bytes_read
        .map(|bytes| format!(", {}{} bytes", short(bytes as f64), expected.unwrap_or_default()));
    rows.or(bytes).unwrap_or_default()
}

fn state(stage: &Stage) -> String {
    match (&stage.error, stage.result) {
        (Some(error), _) => error.clone(),
        (None, Some(verdict)) => verdict.to_string(),
        (None, None) => "comparing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use trueup_events::outcome::Verdict;
    use trueup_events::payload::Reading;

    use super::frame;
    use crate::story::{Source, Stage, Story};

    #[test]
    fn a_frame_has_a_line_for_each_source_and_stage() {
        let source = |name: &str, rows, bytes_read: Option<u64>| {
            let expected = bytes_read.map(|_| 3_000_000);
            let came = Reading { extraction_index: 0, rows_read: None, bytes_read, bytes_expected: expected };
            Source { name: name.to_owned(), rows, came: Some(came), error: None }
        };
        let stage = |name: &str, result| Stage {
            name: name.to_owned(),
            rows: 12_345,
            unmatched: 0,
            result,
            tolerances: Vec::new(),
            error: None,
        };
        let story = Story {
            sources: vec![
                source("ledger", Some(60), None),
                source("bank", None, None),
                source("lake", None, Some(1_500_000)),
            ],
            stages: vec![stage("by-region", Some(Verdict::Matched)), stage("all", None)],
            comparison: None,
        };
        let drawn = frame(&story, Duration::from_millis(1_500), 60).replace("\u{1b}[K", "");
        insta::assert_snapshot!(drawn, @r"
        ledger            60 rows
        bank       reading
        lake       reading, 1.5 M of 3.0 M bytes
        by-region     12.3 k rows  MATCHED
        all           12.3 k rows  comparing
        running, 1.5 s
        ");
        let narrow = frame(&story, Duration::ZERO, 20).replace("\u{1b}[K", "");
        assert!(narrow.lines().all(|line| line.chars().count() < 20), "{narrow}");
        assert_eq!(frame(&Story::default(), Duration::ZERO, 20), "waiting, 0.0 s\u{1b}[K\n");
    }
}
