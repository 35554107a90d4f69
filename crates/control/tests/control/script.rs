//! An engine that does as it is told: it forgets, repeats, lags and lies.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::watch;
use trueup_control::{Answer, Engine, EngineError, Kept};
use trueup_events::RunId;
use trueup_events::outcome::{Reason, RunError};
use trueup_store::Record;

/// What the engine was asked, and what it says.
#[derive(Debug, Default)]
struct Notes {
    submitted: Vec<RunId>,
    cancelled: Vec<RunId>,
    deleted: Vec<String>,
    refused: HashSet<RunId>,
    answers: HashMap<RunId, Answer>,
    kept: Vec<Kept>,
    is_unwell: bool,
}

/// An engine with a script.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    notes: Arc<Mutex<Notes>>,
    asked: Arc<watch::Sender<u64>>,
}

impl Default for Script {
    fn default() -> Self {
        Self { notes: Arc::default(), asked: Arc::new(watch::Sender::new(0)) }
    }
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

    /// Whether it answers when it is asked how it is.
    pub(crate) fn be_unwell(&self, is_unwell: bool) {
        self.notes().is_unwell = is_unwell;
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

    /// Waits until it has been asked so many times more.
    pub(crate) async fn is_asked(&self, times: u64) {
        let mut asked = self.asked.subscribe();
        let until = *asked.borrow_and_update() + times;
        asked.wait_for(|asked| *asked >= until).await.unwrap();
    }
}

impl Engine for Script {
    async fn submit(&self, run: &Record) -> Result<(), RunError> {
        let mut notes = self.notes();
        notes.submitted.push(run.id());
        if notes.refused.contains(&run.id()) {
            return Err(RunError::new(Reason::QueueRejected, "the engine is full"));
        }
        Ok(())
    }

    async fn ask(&self, run: &Record) -> Answer {
        let answer = self.notes().answers.get(&run.id()).cloned();
        self.asked.send_modify(|asked| *asked += 1);
        answer.unwrap_or(Answer::Running)
    }

    async fn cancel(&self, run: &Record) -> Result<(), EngineError> {
        self.notes().cancelled.push(run.id());
        Ok(())
    }

    async fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<Kept>, EngineError> {
        let notes = self.notes();
        if notes.is_unwell {
            return Err(EngineError("not well".to_owned()));
        }
        let is_after = |kept: &&Kept| after.is_none_or(|after| kept.name.as_str() > after);
        Ok(notes.kept.iter().filter(is_after).take(limit).cloned().collect())
    }

    async fn delete(&self, name: &str) -> Result<(), EngineError> {
        let mut notes = self.notes();
        notes.kept.retain(|kept| kept.name != name);
        notes.deleted.push(name.to_owned());
        Ok(())
    }
}
