//! An engine that does as it is told: it forgets, repeats, lags, hangs, fails and lies.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::watch;
use trueup_control::{Answer, Engine, EngineError, Kept};
use trueup_events::RunId;
use trueup_events::outcome::{Reason, RunError};
use trueup_store::Record;
use trueup_testkit::PATIENCE;

/// How many turns others have before an engine answers that lags.
const LAG: usize = 1_000;

/// What an engine can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    Submit,
    Ask,
    Cancel,
    List,
    Delete,
}

/// How it goes about that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// It answers at once.
    Well,
    /// It answers late.
    Lags,
    /// It does not answer.
    Hangs,
    /// It does not do it, and says so.
    Fails,
}

/// What the engine was asked, and what it says.
#[derive(Debug, Default)]
struct Notes {
    submitted: Vec<RunId>,
    cancelled: Vec<RunId>,
    deleted: Vec<String>,
    refused: HashSet<RunId>,
    answers: HashMap<RunId, Answer>,
    kept: Vec<Kept>,
    moods: HashMap<Call, Mood>,
    calls: HashMap<Call, u64>,
}

/// An engine with a script.
#[derive(Debug, Clone, Default)]
pub(crate) struct Script {
    notes: Arc<Mutex<Notes>>,
    called: watch::Sender<()>,
}

impl Script {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap()
    }

    /// Refuses a run, in a way that may pass.
    pub(crate) fn refuse(&self, run_id: RunId) {
        self.notes().refused.insert(run_id);
    }

    /// Says that of a run from now on.
    pub(crate) fn say(&self, run_id: RunId, answer: Answer) {
        self.notes().answers.insert(run_id, answer);
    }

    /// Goes about a call like that from now on.
    pub(crate) fn be(&self, call: Call, mood: Mood) {
        self.notes().moods.insert(call, mood);
    }

    /// Keeps a record of something.
    pub(crate) fn keep(&self, kept: Kept) {
        self.notes().kept.push(kept);
    }

    /// How often a run was submitted.
    pub(crate) fn submits(&self, run_id: RunId) -> usize {
        self.notes().submitted.iter().filter(|submitted| **submitted == run_id).count()
    }

    pub(crate) fn cancelled(&self) -> Vec<RunId> {
        self.notes().cancelled.clone()
    }

    pub(crate) fn deleted(&self) -> Vec<String> {
        self.notes().deleted.clone()
    }

    /// Waits until it has been called so many times more.
    pub(crate) async fn is_called(&self, call: Call, times: u64) {
        let until = self.calls(call) + times;
        self.becomes(|script| script.calls(call) >= until).await;
    }

    /// Waits until something is true of it.
    pub(crate) async fn becomes(&self, is_so: impl Fn(&Self) -> bool) {
        let mut called = self.called.subscribe();
        let is_so = async {
            while !is_so(self) {
                called.changed().await.unwrap();
            }
        };
        let waited = tokio::time::timeout(PATIENCE, is_so).await;
        assert!(waited.is_ok(), "it does not come to that: {:#?}", self.notes());
    }

    /// How often it has been called.
    pub(crate) fn calls(&self, call: Call) -> u64 {
        self.notes().calls.get(&call).copied().unwrap_or(0)
    }

    /// Goes about a call as it is its mood, and notes what is done in it.
    async fn go_about<T>(&self, call: Call, answer: impl FnOnce(&mut Notes) -> T) -> Result<T, EngineError> {
        let mood = {
            let mut notes = self.notes();
            *notes.calls.entry(call).or_default() += 1;
            notes.moods.get(&call).copied().unwrap_or(Mood::Well)
        };
        self.called.send_replace(());
        match mood {
            Mood::Well => {}
            Mood::Lags => {
                for _ in 0..LAG {
                    tokio::task::yield_now().await;
                }
            }
            Mood::Hangs => std::future::pending().await,
            Mood::Fails => return Err(EngineError("not well".to_owned())),
        }
        let answer = answer(&mut self.notes());
        self.called.send_replace(());
        Ok(answer)
    }
}

impl Engine for Script {
    async fn submit(&self, run: &Record) -> Result<(), RunError> {
        let id = run.id();
        let submitted = self.go_about(Call::Submit, |notes| {
            notes.submitted.push(id);
            !notes.refused.contains(&id)
        });
        match submitted.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(RunError::new(Reason::QueueRejected, "the engine is full")),
            Err(error) => Err(RunError::new(Reason::QueueRejected, error.to_string())),
        }
    }

    async fn ask(&self, run: &Record) -> Answer {
        let asked = self.go_about(Call::Ask, |notes| notes.answers.get(&run.id()).cloned()).await;
        asked.map_or_else(
            |error| Answer::ProbeError(error.to_string()),
            |answer| answer.unwrap_or(Answer::Running),
        )
    }

    async fn cancel(&self, run: &Record) -> Result<(), EngineError> {
        self.go_about(Call::Cancel, |notes| notes.cancelled.push(run.id())).await
    }

    async fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<Kept>, EngineError> {
        self.go_about(Call::List, |notes| {
            let is_after = |kept: &&Kept| after.is_none_or(|after| kept.name.as_str() > after);
            notes.kept.iter().filter(is_after).take(limit).cloned().collect()
        })
        .await
    }

    async fn delete(&self, name: &str) -> Result<(), EngineError> {
        self.go_about(Call::Delete, |notes| {
            notes.kept.retain(|kept| kept.name != name);
            notes.deleted.push(name.to_owned());
        })
        .await
    }
}
