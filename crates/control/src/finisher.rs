//! Reports of attempts that ended: those that come while one is being written are written together.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use trueup_lifecycle::{Lease, Report};
use trueup_store::{Finish, Store, StoreError};

use crate::patience::insist;
use crate::stopping::Stopping;

/// How many reports one transaction takes.
const TOGETHER_MAX: usize = 64;

struct Asked {
    lease: Lease,
    report: Report,
    reply: oneshot::Sender<Result<Finish, StoreError>>,
}

/// The way to the task that writes reports.
#[derive(Debug, Clone)]
pub(crate) struct Finisher {
    reports: mpsc::Sender<Asked>,
}

impl Finisher {
    /// Starts the task; it ends when nobody can report any more.
    pub(crate) fn start(store: Arc<Store>, stopping: &Stopping) -> Self {
        let (reports, asked) = mpsc::channel(TOGETHER_MAX);
        stopping.spawn(write_all(store, stopping.clone(), asked));
        Self { reports }
    }

    /// Ends an attempt, and says what became of the report.
    pub(crate) async fn finish(&self, lease: Lease, report: Report) -> Result<Finish, StoreError> {
        let ended = || StoreError::Away {
            doing: "finishing a run",
            problem: "everything is coming to its end".to_owned(),
        };
        let (reply, answer) = oneshot::channel();
        let asked = Asked { lease, report, reply };
        self.reports.send(asked).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }
}

async fn one_by_one(store: &Store, reports: Vec<(Lease, Report)>) -> Vec<Result<Finish, StoreError>> {
    let mut answers = Vec::new();
    for (lease, report) in reports {
        answers.push(store.finish(lease, report).await);
    }
    answers
}

async fn write_all(store: Arc<Store>, stopping: Stopping, mut asked: mpsc::Receiver<Asked>) {
    let mut together = Vec::new();
    while asked.recv_many(&mut together, TOGETHER_MAX).await > 0 {
        // Those that ended at the same moment get to say so.
        tokio::task::yield_now().await;
        while together.len() < TOGETHER_MAX
            && let Ok(another) = asked.try_recv()
        {
            together.push(another);
        }
        let reports: Vec<(Lease, Report)> =
            together.iter().map(|asked| (asked.lease.clone(), asked.report.clone())).collect();
        let finished = insist(&stopping, "finishing runs", || store.finish_all(reports.clone())).await;
        let answers = match finished {
            Ok(answers) => answers,
            // One report that the database cannot take must not cost the others theirs.
            Err(error) if reports.len() > 1 && !error.is_passing() => one_by_one(&store, reports).await,
            Err(error) => vec![Err(error); reports.len()],
        };
        for (asked, answer) in together.drain(..).zip(answers) {
            // Who reported may have gone; what was written stands.
            drop(asked.reply.send(answer));
        }
    }
}
