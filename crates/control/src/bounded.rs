//! An engine that is waited for only so long: one that hangs is as good as one that fails.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use trueup_events::outcome::{Reason, RunError};
use trueup_store::Record;

use crate::engine::{Answer, Engine, EngineError, Kept};

/// An engine, and how long each call of it may take.
#[derive(Debug)]
pub(crate) struct Bounded<E> {
    pub(crate) engine: Arc<E>,
    pub(crate) patience: Duration,
}

impl<E: Engine> Bounded<E> {
    pub(crate) fn misses_until_lost(&self) -> u32 {
        self.engine.misses_until_lost()
    }

    pub(crate) fn reads_hand_offs(&self) -> bool {
        self.engine.reads_hand_offs()
    }

    /// A submit that was not answered may have come through; the next one is recognised by its name.
    pub(crate) async fn submit(&self, run: &Record) -> Result<(), RunError> {
        let submitted = timeout(self.patience, self.engine.submit(run)).await;
        submitted.unwrap_or_else(|_| Err(RunError::new(Reason::QueueRejected, self.no_answer())))
    }

    pub(crate) async fn ask(&self, run: &Record) -> Answer {
        let asked = timeout(self.patience, self.engine.ask(run)).await;
        asked.unwrap_or_else(|_| Answer::ProbeError(self.no_answer()))
    }

    pub(crate) async fn cancel(&self, run: &Record) -> Result<(), EngineError> {
        self.wait_for(self.engine.cancel(run)).await
    }

    pub(crate) async fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<Kept>, EngineError> {
        self.wait_for(self.engine.list(after, limit)).await
    }

    pub(crate) async fn delete(&self, name: &str) -> Result<(), EngineError> {
        self.wait_for(self.engine.delete(name)).await
    }

    /// Whether it answers at all: what it does not know counts only then.
    pub(crate) async fn is_well(&self) -> bool {
        self.list(None, 1).await.inspect_err(|error| tracing::warn!(%error, "the engine is not well")).is_ok()
    }

    async fn wait_for<T>(
        &self,
        call: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        timeout(self.patience, call).await.unwrap_or_else(|_| Err(EngineError(self.no_answer())))
    }

    fn no_answer(&self) -> String {
        format!("no answer within {:?}", self.patience)
    }
}
