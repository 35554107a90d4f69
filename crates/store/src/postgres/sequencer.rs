//! Numbers events and links audit entries, in the order in which they became visible.
//!
//! A transaction writes its events to the inbox, whose numbers say nothing about who commits first. One sequencer at a time, under a lock, empties the inbox of
//! what it sees there and appends that to the log. So whoever follows the log has passed nothing that appears later. Every store runs one.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::{try_join, try_join3, try_join5};
use tokio::sync::{Mutex, MutexGuard, Notify, watch};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_postgres::{Error, Row};
use uuid::Uuid;

use super::error::failed;
use super::pool::{Connection, PATIENCE, Pool};
use super::rows;
use crate::audit::{Link, ROOT};
use crate::error::StoreError;

/// How often it looks without having been told: others may have been killed between their commit and their turn, or a notification been lost.
const POLL: Duration = Duration::from_secs(2);
/// The least time from the end of a turn to the next, so that many commits share one, and one notification.
const PAUSE: Duration = Duration::from_millis(8);
/// How many events and entries one turn takes.
const LIMIT: i64 = 5_000;

const DOING: &str = "numbering events";

/// What the tasks and the verbs of one store tell each other.
#[derive(Debug)]
pub(crate) struct Sequencer {
    /// What this store's notifications say, so that it need not listen to them: whoever waits for changes here was told before they were sent.
    name: String,
    /// Counts commits of this store, and how many of them are numbered.
    committed: AtomicU64,
    numbered: AtomicU64,
    /// The last position that whoever waits for changes was told of.
    told: AtomicI64,
    /// When the last turn of this store ended; whoever has it takes the next.
    turn: Mutex<Option<Instant>>,
    wake: Notify,
    /// Whether somebody else's commits wait to be numbered.
    is_called: AtomicBool,
    changes: watch::Sender<u64>,
}

impl Default for Sequencer {
    fn default() -> Self {
        Self {
            name: Uuid::now_v7().to_string(),
            committed: AtomicU64::new(0),
            numbered: AtomicU64::new(0),
            told: AtomicI64::new(0),
            turn: Mutex::default(),
            wake: Notify::new(),
            is_called: AtomicBool::new(false),
            changes: watch::Sender::default(),
        }
    }
}

impl Sequencer {
    /// Whether a notification is one of this store's own.
    pub(crate) fn has_sent(&self, said: &str) -> bool {
        said == self.name
    }

    /// Notes that this store has committed something; who looks at rows need not wait for positions.
    pub(crate) fn committed(&self) {
        self.committed.fetch_add(1, Ordering::SeqCst);
        self.tell_change();
        self.wake.notify_one();
    }

    /// Notes that somebody else has committed something that waits to be numbered.
    pub(crate) fn wake(&self) {
        self.is_called.store(true, Ordering::SeqCst);
        self.wake.notify_one();
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn tell_change(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Whether this store has committed something that no turn has seen.
    pub(crate) fn is_behind(&self) -> bool {
        self.committed.load(Ordering::SeqCst) > self.numbered.load(Ordering::SeqCst)
    }

    /// Takes turns until it is stopped.
    pub(crate) async fn run(&self, pool: &Pool) {
        loop {
            let was_told = timeout(POLL, self.wake.notified()).await.is_ok();
            if !was_told && self.is_idle(pool).await {
                continue;
            }
            let is_called = self.is_called.swap(false, Ordering::SeqCst) || !was_told;
            let turn = if is_called { self.catch_up(pool).await } else { self.catch_up_with_own(pool).await };
            // A turn that failed changed nothing, and the next one does its work; verbs report that the server is away.
            drop(turn);
        }
    }

    /// Whether nothing waits, and nobody has numbered anything: one question instead of a turn, for all the time in which nothing happens.
    async fn is_idle(&self, pool: &Pool) -> bool {
        let Ok(lent) = pool.lend_at_once(DOING).await else { return false };
        let (client, sql) = (&lent.connection.client, &lent.connection.sql);
        let Ok(Ok(row)) = timeout(PATIENCE, client.query_one(&sql.is_idle, &[])).await else { return false };
        pool.give_back(lent);
        row.get::<_, bool>(0) && row.get::<_, i64>(1) <= self.told.load(Ordering::SeqCst)
    }

    /// Numbers what this store has committed, unless a turn that was under way has.
    pub(crate) async fn catch_up_with_own(&self, pool: &Pool) -> Result<(), StoreError> {
        if !self.is_behind() {
            return Ok(());
        }
        let committed = self.committed.load(Ordering::SeqCst);
        let turn = self.turn().await;
        if committed <= self.numbered.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.take(turn, pool).await
    }

    /// Numbers everything that is visible now.
    pub(crate) async fn catch_up(&self, pool: &Pool) -> Result<(), StoreError> {
        let turn = self.turn().await;
        self.take(turn, pool).await
    }

    /// Waits until it is time for a turn.
    async fn turn(&self) -> MutexGuard<'_, Option<Instant>> {
        let turn = self.turn.lock().await;
        if let Some(ended) = *turn {
            sleep_until(ended + PAUSE).await;
        }
        turn
    }

    async fn take(&self, mut last: MutexGuard<'_, Option<Instant>>, pool: &Pool) -> Result<(), StoreError> {
        let numbered = self.number(pool).await;
        *last = Some(Instant::now());
        numbered
    }

    async fn number(&self, pool: &Pool) -> Result<(), StoreError> {
        loop {
            let committed = self.committed.load(Ordering::SeqCst);
            let has_committed = committed > self.numbered.load(Ordering::SeqCst);
            let lent = pool.lend_at_once(DOING).await?;
            let turn = timeout(PATIENCE, turn(&lent.connection, has_committed, &self.name)).await;
            let no_answer = || StoreError::Away { doing: DOING, problem: "no answer".to_owned() };
            let Turn { seen, position } =
                turn.map_err(|_| no_answer())?.map_err(|error| failed(&error, DOING))?;
            pool.give_back(lent);
            // Another sequencer may have numbered events, and its notification been lost.
            let has_moved = self.told.fetch_max(position, Ordering::SeqCst) < position;
            if has_committed || seen > 0 || has_moved {
                self.tell_change();
            }
            if seen < LIMIT {
                self.numbered.fetch_max(committed, Ordering::SeqCst);
                return Ok(());
            }
        }
    }
}

/// What one turn found.
struct Turn {
    /// How many events or entries waited, whichever are more.
    seen: i64,
    /// The last position in the log.
    position: i64,
}

/// Takes one turn.
async fn turn(connection: &Connection, has_committed: bool, name: &str) -> Result<Turn, Error> {
    let Connection { client, sql, .. } = connection;
    // The lock is a statement of its own, so that those after it see what the turn before has done.
    let begin = try_join(
        client.batch_execute("begin isolation level read committed"),
        client.query(&sql.lock_sequencer, &[]),
    );
    let (_, events, position, entries, head) = try_join5(
        begin,
        client.execute(&sql.number_events, &[&LIMIT]),
        client.query_one(&sql.last_position, &[]),
        client.query(&sql.audit_after, &[&LIMIT]),
        client.query_opt(&sql.audit_head, &[]),
    )
    .await?;
    let seen = events.cast_signed().max(entries.len().try_into().unwrap_or(LIMIT));
    let link = async {
        if entries.is_empty() {
            return Ok(());
        }
        let (numbers, ids, links, tenants) = chain(&entries, head.as_ref());
        client.execute(&sql.insert_link, &[&numbers, &ids, &links, &tenants]).await.map(drop)
    };
    let notify = async {
        if has_committed || seen > 0 { client.query(&sql.notify, &[&name]).await.map(drop) } else { Ok(()) }
    };
    try_join3(link, notify, client.batch_execute("commit")).await?;
    Ok(Turn { seen, position: position.get(0) })
}

/// The links of entries, from the last one that there is: the columns of their table.
fn chain(entries: &[Row], head: Option<&Row>) -> (Vec<i64>, Vec<i64>, Vec<Vec<u8>>, Vec<String>) {
    let (number, hash) = head.map_or((0, Vec::new()), |head| (head.get(0), head.get(1)));
    let mut link: Link = hash.try_into().unwrap_or(ROOT);
    let (mut ids, mut links, mut tenants) = (Vec::new(), Vec::new(), Vec::new());
    for row in entries {
        let entry = rows::entry(row, 0);
        link = entry.link(&link);
        ids.push(entry.id);
        links.push(link.to_vec());
        tenants.push(entry.tenant_id);
    }
    let numbers = (number + 1..).take(ids.len()).collect();
    (numbers, ids, links, tenants)
}
