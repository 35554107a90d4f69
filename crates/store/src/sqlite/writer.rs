//! The one thread that writes, which commits the verbs that wait together.
//!
//! A commit costs a wait for the disk whatever is in it. So the writer takes all verbs that wait, each in a savepoint of its own, links their audit entries,
//! commits once, and answers only then.

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
        let mut taken = Vec::new();
        let changes_before = self.connection.total_changes();
        let uncommitted = self.transaction(first, asked, &mut taken).err();
        if uncommitted.is_some() && !self.connection.is_autocommit() {
            // Should even this fail, the next transaction cannot begin, and says so to those who ask for it.
            drop(self.run("rollback"));
        }
        // Who waits for changes looks for work then; to look and find none must not wake it again.
        if uncommitted.is_none() && self.connection.total_changes() != changes_before {
            self.changes.send_modify(|count| *count += 1);
        }
        taken.into_iter().for_each(|question| question.answer(uncommitted.as_ref()));
    }

    fn transaction(
        &mut self,
        first: Box<dyn Asked>,
        asked: &Receiver<Box<dyn Asked>>,
        taken: &mut Vec<Box<dyn Asked>>,
    ) -> Result<(), StoreError> {
        let waiting = std::iter::once(first).chain(asked.try_iter()).take(GROUP_MAX);
        if let Err(error) = self.run("begin immediate") {
            taken.extend(waiting);
            return Err(kind(&error, "beginning a transaction"));
        }
        for mut question in waiting {
            let applied = self.apply(&mut *question);
            taken.push(question);
            applied?;
        }
        chain::link(&self.connection)
            .and_then(|()| Ok(self.run("commit")?))
            .map_err(|unread| unread.while_doing("committing"))
    }

    /// Runs one verb, and once more with other ids for its events should those be taken; an error is one of the whole transaction.
    fn apply(&mut self, question: &mut dyn Asked) -> Result<(), StoreError> {
        for _ in 1..ATTEMPTS {
            match self.attempt(question)? {
                Some(StoreError::EventIdTaken { .. }) => self.context.skip_event_ids(),
                _ => return Ok(()),
            }
        }
        self.attempt(question).map(drop)
    }

    /// Runs one verb, and undoes it when it fails, which it then says.
    fn attempt(&mut self, question: &mut dyn Asked) -> Result<Option<StoreError>, StoreError> {
        let error = |error| kind(&error, "marking where a verb begins and ends");
        self.run("savepoint verb").map_err(error)?;
        let failure = question.apply(&mut self.connection, &self.context).err();
        if let Some(failure) = &failure {
            if self.connection.is_autocommit() {
                // SQLite has undone the whole transaction, as it may when the disk is full.
                return Err(failure.clone());
            }
            self.run("rollback to verb").map_err(error)?;
        }
        self.run("release verb").map_err(error)?;
        Ok(failure)
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
    use crate::record::{JobDocument, NewRun};
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
        let job = SaveJob { id: Uuid::now_v7(), tenant_id, document, by: "ann".to_owned() };
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
