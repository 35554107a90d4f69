//! The one thread that writes, which commits the verbs that wait together.
//!
//! A commit costs a wait for the disk whatever is in it. So the writer takes all verbs that wait, links their audit entries, commits once, and answers only
//! then. Should one of them fail after it has written something, which is rare, all are run again, each in a savepoint of its own: with one open, SQLite copies
//! every page before it changes.

use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::task::{Poll, Waker};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use super::chain;
use super::error::kind;
use super::tx::SqliteTx;
use crate::context::Context;
use crate::error::StoreError;
use crate::fail_point::{self, Boundary};
use crate::tx::Verb;

/// How many verbs one commit takes.
const GROUP_MAX: usize = 256;
/// How many verbs may wait for the writer; who asks for more waits for room.
const QUEUE_MAX: usize = 4 * GROUP_MAX;
/// How often a verb is tried when the ids of its events are taken.
const ATTEMPTS: u32 = 5;
/// How often the writer looks whether another process has written.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
// What a command commits is noticed within a second, also when a look comes late by as much again.
const _: () = assert!(2 * LOOK_INTERVAL.as_millis() <= 1_000);

/// A verb on its way through the writer, whatever it gives back.
trait Asked: Send {
    /// Runs it and keeps what came of it; an error says that nothing of it may be written.
    fn apply(&mut self, connection: &mut Connection, context: &Context) -> Result<(), StoreError>;

    /// Gives the answer back: what came of it, unless the transaction could not be committed.
    fn answer(self: Box<Self>, uncommitted: Option<&StoreError>);
}

struct Question<V: Verb> {
    verb: V,
    outcome: Option<Result<V::Output, StoreError>>,
    reply: oneshot::Sender<Result<V::Output, StoreError>>,
    _place: OwnedSemaphorePermit,
}

impl<V: Verb> Asked for Question<V> {
    fn apply(&mut self, connection: &mut Connection, context: &Context) -> Result<(), StoreError> {
        fail_point::reach::<V>(Boundary::Before);
        let mut tx = SqliteTx { connection, doing: V::DOING };
        let applied = pin!(self.verb.apply(&mut tx, context));
        let outcome = match applied.poll(&mut std::task::Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => {
                let problem = "a verb waited for something else than the database".to_owned();
                Err(StoreError::Failed { doing: V::DOING, problem })
            }
        };
        fail_point::reach::<V>(Boundary::BeforeCommit);
        let failure = outcome.as_ref().err().cloned();
        self.outcome = Some(outcome);
        failure.map_or(Ok(()), Err)
    }

    fn answer(self: Box<Self>, uncommitted: Option<&StoreError>) {
        let answer = if let Some(error) = uncommitted {
            // Even a refusal, which may rest on what another verb would have changed.
            Err(error.clone())
        } else {
            fail_point::reach::<V>(Boundary::AfterCommit);
            self.outcome.unwrap_or_else(|| Err(stopped(V::DOING)))
        };
        // Who asked may have gone away; what was committed stands all the same.
        drop(self.reply.send(answer));
    }
}

/// The way to the writer's thread.
#[derive(Debug)]
pub(crate) struct Writer {
    /// None once it is told to end.
    questions: Option<mpsc::Sender<Box<dyn Asked>>>,
    places: Arc<Semaphore>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread; it counts up whenever something was committed, here or by another process.
    pub(crate) fn start(
        connection: Connection,
        context: Arc<Context>,
        changes: watch::Sender<u64>,
    ) -> Result<Self, StoreError> {
        let (questions, asked) = mpsc::channel();
        let pen = Pen { connection, context, changes, version: None, looked_at: Instant::now() };
        let thread =
            thread::Builder::new().name("store-writer".to_owned()).spawn(move || pen.write(&asked)).map_err(
                |error| StoreError::Failed { doing: "starting the writer", problem: error.to_string() },
            )?;
        let places = Arc::new(Semaphore::new(QUEUE_MAX));
        Ok(Self { questions: Some(questions), places, thread: Some(thread) })
    }

    /// Asks for a verb, and waits until it is committed.
    pub(crate) async fn ask<V: Verb>(&self, verb: V) -> Result<V::Output, StoreError> {
        let (reply, answer) = oneshot::channel();
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| stopped(V::DOING))?;
        let question = Box::new(Question { verb, outcome: None, reply, _place: place });
        let questions = self.questions.as_ref().ok_or_else(|| stopped(V::DOING))?;
        questions.send(question).map_err(|_| stopped(V::DOING))?;
        answer.await.map_err(|_| stopped(V::DOING))?
    }

    /// Lets the writer finish what waits, and waits for that.
    pub(crate) fn stop(&mut self) -> Result<(), StoreError> {
        self.questions = None;
        let Some(thread) = self.thread.take() else { return Ok(()) };
        thread.join().map_err(|_| stopped("closing the store"))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Whoever drops a store rather than closing it has nobody to tell.
        drop(self.stop());
    }
}

fn stopped(doing: &'static str) -> StoreError {
    StoreError::Failed { doing, problem: "the store's writer has stopped".to_owned() }
}

/// What the writer's thread holds.
struct Pen {
    connection: Connection,
    context: Arc<Context>,
    changes: watch::Sender<u64>,
    /// SQLite's count of the commits of others, when last looked at.
    version: Option<i64>,
    looked_at: Instant,
}

/// What came of running a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Applied {
    /// What it wrote is to be committed; one that failed has written nothing.
    Settled,
    /// It has written nothing, because the ids of its events are taken.
    IdsTaken,
    /// It failed, and has written something.
    Half,
}

impl Pen {
    fn write(mut self, asked: &Receiver<Box<dyn Asked>>) {
        self.look();
        loop {
            match asked.recv_timeout(LOOK_INTERVAL) {
                Ok(first) => self.group(first, asked),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.looked_at.elapsed() >= LOOK_INTERVAL {
                self.look();
            }
        }
    }

    /// Runs a verb and all that wait behind it in one transaction, then answers them.
    fn group(&mut self, first: Box<dyn Asked>, asked: &Receiver<Box<dyn Asked>>) {
        let mut taken = vec![first];
        let changes_before = self.connection.total_changes();
        let mut committed = self.transaction(&mut taken, Some(asked));
        if matches!(committed, Ok(false)) {
            self.roll_back();
            committed = self.transaction(&mut taken, None);
        }
        let uncommitted = committed.err();
        if uncommitted.is_some() {
            self.roll_back();
        }
        // Who waits for changes looks for work then; to look and find none must not wake it again.
        if uncommitted.is_none() && self.connection.total_changes() != changes_before {
            self.changes.send_modify(|count| *count += 1);
        }
        taken.into_iter().for_each(|question| question.answer(uncommitted.as_ref()));
    }

    /// Runs what was taken and what waits behind it, and says whether it was committed: it is not when a verb among it has to be undone
    /// alone. With nobody behind it, each is marked, so that it can be.
    fn transaction(
        &mut self,
        taken: &mut Vec<Box<dyn Asked>>,
        asked: Option<&Receiver<Box<dyn Asked>>>,
    ) -> Result<bool, StoreError> {
        let mut waiting = std::iter::from_fn(|| asked?.try_recv().ok());
        if let Err(error) = self.run("begin immediate") {
            taken.extend(waiting.take(GROUP_MAX));
            return Err(kind(&error, "beginning a transaction"));
        }
        let mut next = 0;
        while let Some(question) = taken.get_mut(next) {
            if !self.apply(&mut **question, asked.is_none())? {
                return Ok(false);
            }
            next += 1;
            if next == taken.len() && next < GROUP_MAX {
                taken.extend(waiting.next());
            }
        }
        chain::link(&self.connection)
            .and_then(|()| Ok(self.run("commit")?))
            .map_err(|unread| unread.while_doing("committing"))?;
        Ok(true)
    }

    /// Ends a transaction that is not to be committed, unless SQLite has.
    fn roll_back(&self) {
        if !self.connection.is_autocommit() {
            // Should even this fail, the next transaction cannot begin, and says so to those who ask for it.
            drop(self.run("rollback"));
        }
    }

    /// Runs one verb, and once more with other ids for its events should those be taken, and says whether it is settled; an error is one of
    /// the whole transaction.
    fn apply(&mut self, question: &mut dyn Asked, is_marked: bool) -> Result<bool, StoreError> {
        for _ in 1..ATTEMPTS {
            match self.attempt(question, is_marked)? {
                Applied::IdsTaken => self.context.skip_event_ids(),
                applied => return Ok(applied == Applied::Settled),
            }
        }
        Ok(self.attempt(question, is_marked)? != Applied::Half)
    }

    /// Runs one verb; one that fails is undone if it is marked, and otherwise may be left half done.
    fn attempt(&mut self, question: &mut dyn Asked, is_marked: bool) -> Result<Applied, StoreError> {
        let error = |error| kind(&error, "marking where a verb begins and ends");
        if is_marked {
            self.run("savepoint verb").map_err(error)?;
        }
        let changes_before = self.connection.total_changes();
        let failure = question.apply(&mut self.connection, &self.context).err();
        if let Some(failure) = &failure {
            if self.connection.is_autocommit() {
                // SQLite has undone the whole transaction, as it may when the disk is full.
                return Err(failure.clone());
            }
            if is_marked {
                self.run("rollback to verb").map_err(error)?;
            } else if self.connection.total_changes() != changes_before {
                return Ok(Applied::Half);
            }
        }
        if is_marked {
            self.run("release verb").map_err(error)?;
        }
        Ok(match failure {
            Some(StoreError::EventIdTaken { .. }) => Applied::IdsTaken,
            _ => Applied::Settled,
        })
    }

    /// Notices what other processes have committed.
    fn look(&mut self) {
        self.looked_at = Instant::now();
        let version = self.connection.pragma_query_value(None, "data_version", |row| row.get(0));
        // A database that cannot be asked now is asked again at the next look.
        let Ok(version) = version else { return };
        if self.version.replace(version).is_some_and(|before| before != version) {
            self.changes.send_modify(|count| *count += 1);
        }
    }

    fn run(&self, statement: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(statement)?.execute([]).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trueup_events::TenantId;
    use trueup_events::payload::Mode;
    use trueup_lifecycle::Policy;
    use uuid::Uuid;

    use super::super::inspect::{Depth, inspect};
    use super::super::open::open;
    use super::*;
    use crate::context::Options;
    use crate::record::{Entry, Expected, JobDocument, NewRun};
    use crate::tx::Tx;
    use crate::verbs::{EnsureTenant, SaveJob, Trigger};

    fn count(connection: &Connection, table: &str) -> i64 {
        connection.query_row(&format!("select count(*) from {table}"), [], |row| row.get(0)).unwrap()
    }

    /// Makes a store in which a writer may use so many pages more, and a job to trigger.
    async fn start(path: &std::path::Path, more: Option<i64>) -> (Writer, TenantId) {
        let found = inspect(path, Depth::Pages).unwrap();
        let (connection, node) = open(path, found, Depth::Pages, None).unwrap();
        let context = Arc::new(Context::new(Options::default(), node));
        if let Some(more) = more {
            let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
            connection.pragma_update(None, "max_page_count", pages + more).unwrap();
        }
        let writer = Writer::start(connection, context, watch::Sender::new(0)).unwrap();
        let tenant = EnsureTenant { id: TenantId(Uuid::now_v7()), name: "acme".to_owned() };
        let tenant_id = writer.ask(tenant).await.unwrap();
        let document = JobDocument {
            name: "nightly".to_owned(),
            document: json!({}),
            queue: "default".to_owned(),
            policy: Policy::default(),
        };
        let job = SaveJob {
            id: Uuid::now_v7(),
            tenant_id,
            document,
            expected: Expected::Any,
            by: "ann".to_owned(),
        };
        writer.ask(job).await.unwrap();
        (writer, tenant_id)
    }

    fn trigger(tenant_id: TenantId) -> Trigger {
        let new = NewRun {
            run_id: Uuid::now_v7(),
            tenant_id,
            job: "nightly".to_owned(),
            params: json!({ "padding": "x".repeat(500) }),
            mode: Mode::Immediate,
            triggered_by: "ann".to_owned(),
        };
        Trigger::alone(new)
    }

    #[tokio::test]
    async fn a_full_disk_fails_whole_verbs_and_leaves_no_halves() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let (writer, tenant_id) = start(&path, Some(40)).await;
        let writer = Arc::new(writer);
        let mut done = 0;
        let mut refused = 0;
        while refused == 0 {
            let asked: Vec<_> = (0..16)
                .map(|_| {
                    let writer = Arc::clone(&writer);
                    tokio::spawn(async move { writer.ask(trigger(tenant_id)).await })
                })
                .collect();
            for answer in asked {
                match answer.await.unwrap() {
                    Ok(_) => done += 1,
                    Err(StoreError::Full { .. }) => refused += 1,
                    Err(error) => panic!("{error:?}"),
                }
            }
        }
        drop(writer);
        let (writer, tenant_id) = start(&path, None).await;
        writer.ask(trigger(tenant_id)).await.unwrap();
        drop(writer);
        let connection = Connection::open(&path).unwrap();
        assert_eq!(count(&connection, "runs"), done + 1);
        assert_eq!(count(&connection, "events"), 2 * (done + 1));
        // The job has an entry too.
        assert_eq!(count(&connection, "audit"), done + 2);
        assert_eq!(count(&connection, "audit_chain"), done + 2);
    }

    /// Writes something, and fails.
    struct Fails(TenantId);

    impl Verb for Fails {
        type Output = ();
        const DOING: &'static str = "failing half-way";

        async fn apply<T: Tx>(&self, tx: &mut T, _: &Context) -> Result<(), StoreError> {
            let (actor, subject) = ("ann".to_owned(), "nothing".to_owned());
            let entry = Entry {
                at_ms: 1,
                tenant_id: self.0,
                actor,
                action: "fail".into(),
                subject,
                detail: json!({}),
            };
            tx.audit(&entry).await?;
            Err(StoreError::Failed { doing: Self::DOING, problem: "it always does".to_owned() })
        }
    }

    #[tokio::test]
    async fn what_fails_half_way_leaves_nothing_and_takes_nobody_along() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let (writer, tenant_id) = start(&path, None).await;
        let triggers = futures_util::future::join_all((0..32).map(|_| writer.ask(trigger(tenant_id))));
        let failures = futures_util::future::join_all((0..32).map(|_| writer.ask(Fails(tenant_id))));
        let (triggered, failed) = tokio::join!(triggers, failures);
        assert!(triggered.iter().all(Result::is_ok));
        assert!(failed.iter().all(|failed| matches!(failed, Err(StoreError::Failed { .. }))));
        drop(writer);
        let connection = Connection::open(&path).unwrap();
        assert_eq!(count(&connection, "runs"), 32);
        // The job has an entry too.
        assert_eq!(count(&connection, "audit"), 33);
        assert_eq!(count(&connection, "audit_chain"), 33);
    }

    struct Waits;

    impl Verb for Waits {
        type Output = ();
        const DOING: &'static str = "waiting for what never comes";

        async fn apply<T: Tx>(&self, _: &mut T, _: &Context) -> Result<(), StoreError> {
            std::future::pending().await
        }
    }

    #[tokio::test]
    async fn a_verb_that_waits_is_an_error_and_holds_up_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, tenant_id) = start(&folder.path().join("store.db"), None).await;
        assert!(matches!(writer.ask(Waits).await, Err(StoreError::Failed { .. })));
        writer.ask(trigger(tenant_id)).await.unwrap();
    }
}
