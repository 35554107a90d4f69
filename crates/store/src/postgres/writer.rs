//! Runs verbs, each in a transaction of its own.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::pool::{Lent, PATIENCE, Pool};
use super::sequencer::Sequencer;
use super::tx::PgTx;
use crate::context::Context;
use crate::error::StoreError;
use crate::fail_point::{self, Boundary};
use crate::place::Role;
use crate::tx::Verb;

/// How often a verb is tried when others come between.
const ATTEMPTS: u32 = 5;
/// The pause before the second attempt; it doubles with each.
const FIRST_PAUSE: Duration = Duration::from_millis(5);

/// What a verb needs; it is shared with the tasks that write.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    pub(crate) context: Arc<Context>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) sequencer: Arc<Sequencer>,
    pub(crate) role: Role,
}

impl Writer {
    pub(crate) async fn transact<V: Verb>(&self, verb: V) -> Result<V::Output, StoreError> {
        if self.role == Role::Reader {
            return Err(StoreError::ReadOnly { problem: "it was opened to be read".to_owned() });
        }
        let (mut pause, mut is_careful) = (FIRST_PAUSE, false);
        for _ in 1..ATTEMPTS {
            match self.attempt(&verb, is_careful).await {
                Err(StoreError::Contended { .. }) => sleep(pause).await,
                // An event that came again, as a rule; only if care does not help, it is an id of ours that another has used.
                Err(StoreError::EventIdTaken { .. }) if !is_careful => is_careful = true,
                Err(StoreError::EventIdTaken { .. }) => self.context.skip_event_ids(),
                other => return other,
            }
            pause *= 2;
        }
        self.attempt(&verb, is_careful).await
    }

    /// Tries a verb once; of one that fails nothing is kept, unless the connection broke while it was committing: then nobody can tell, and it is away.
    async fn attempt<V: Verb>(&self, verb: &V, is_careful: bool) -> Result<V::Output, StoreError> {
        let lent = if V::IS_URGENT {
            self.pool.lend_at_once(V::DOING).await?
        } else {
            self.pool.lend(V::DOING).await?
        };
        fail_point::reach::<V>(Boundary::Before);
        let attempt = async {
            let mut tx = PgTx::new(&lent.connection, V::DOING, is_careful);
            let output = verb.apply(&mut tx, &self.context).await?;
            fail_point::reach::<V>(Boundary::BeforeCommit);
            tx.commit().await.map(|has_told| (output, has_told))
        };
        let no_answer = || StoreError::Away { doing: V::DOING, problem: "no answer".to_owned() };
        match timeout(PATIENCE, attempt).await.map_err(|_| no_answer())? {
            Ok((output, has_told)) => {
                fail_point::reach::<V>(Boundary::AfterCommit);
                self.pool.give_back(lent);
                // Audit entries alone are linked with the next events, or by the next look: nobody waits for them.
                if has_told {
                    self.sequencer.committed();
                }
                Ok(output)
            }
            Err(error) => {
                self.roll_back(lent).await;
                Err(error)
            }
        }
    }

    /// Rolls back and keeps the connection; one that cannot is closed, with the same effect.
    async fn roll_back(&self, lent: Lent) {
        let rolled_back = timeout(PATIENCE, lent.connection.client.batch_execute("rollback")).await;
        if matches!(rolled_back, Ok(Ok(()))) {
            self.pool.give_back(lent);
        }
    }
}
