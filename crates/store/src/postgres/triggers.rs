//! Wishes for runs: those that come while some are being committed are committed together.

use tokio::sync::{mpsc, oneshot};
use trueup_events::RunId;

use super::writer::Writer;
use crate::error::StoreError;
use crate::record::NewRun;
use crate::verbs::{Asked, Trigger};

/// How many wishes one transaction takes.
const TOGETHER_MAX: usize = 64;

struct Wish {
    new: NewRun,
    reply: oneshot::Sender<Asked>,
}

/// The way to the task that writes wishes.
#[derive(Debug, Clone)]
pub(crate) struct Triggers {
    wishes: mpsc::Sender<Wish>,
}

/// The wishes that wait to be written.
#[derive(Debug)]
pub(crate) struct Waiting {
    wishes: mpsc::Receiver<Wish>,
}

impl Triggers {
    /// Makes the way, and its end.
    pub(crate) fn new() -> (Self, Waiting) {
        let (ask, wishes) = mpsc::channel(TOGETHER_MAX);
        (Self { wishes: ask }, Waiting { wishes })
    }

    /// Asks for a run, and waits until it is committed.
    pub(crate) async fn ask(&self, writer: &Writer, new: NewRun) -> Result<RunId, StoreError> {
        let (reply, answer) = oneshot::channel();
        let wish = Wish { new: new.clone(), reply };
        // Nobody gathers wishes in a store that is only read, which the writer then says.
        if self.wishes.send(wish).await.is_ok()
            && let Ok(Some(answer)) = answer.await
        {
            return answer;
        }
        writer.transact(Trigger::alone(new)).await.and_then(Trigger::answer)
    }
}

impl Waiting {
    /// Writes wishes until nobody can have any more.
    pub(crate) async fn write_all(mut self, writer: &Writer) {
        let mut together = Vec::new();
        while self.wishes.recv_many(&mut together, TOGETHER_MAX).await > 0 {
            let wishes: Vec<NewRun> = together.iter().map(|wish: &Wish| wish.new.clone()).collect();
            let answers = match writer.transact(Trigger { wishes, may_wait: false }).await {
                Ok(answers) => answers,
                Err(error) if together.len() == 1 || error.is_passing() => {
                    vec![Some(Err(error)); together.len()]
                }
                // One that the database cannot take must not cost the others theirs.
                Err(_) => vec![None; together.len()],
            };
            for (wish, answer) in together.drain(..).zip(answers) {
                // Who asked may have gone; what was committed stands.
                drop(wish.reply.send(answer));
            }
        }
    }
}
