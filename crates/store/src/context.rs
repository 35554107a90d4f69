//! What verbs need beside the transaction: the settings, the ids of events, and the clock.

use std::collections::HashSet;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use trueup_events::{Event, EventId, Ids, Payload, RunId, Snowflakes, Sources, TenantId, Time};
use trueup_lifecycle::Settings;

use crate::tx::Unreadable;

/// How far ids go ahead when some are taken.
const SKIPPED_MS: u64 = 16;

/// Whose time decides leases and deadlines.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    /// The database's.
    #[default]
    Database,
    /// One that is set by hand, in milliseconds since 1970, so that tests need not wait.
    ByHand(Arc<AtomicI64>),
}

impl Clock {
    /// The time that was set by hand.
    pub(crate) fn by_hand_ms(&self) -> Option<i64> {
        match self {
            Self::Database => None,
            Self::ByHand(now_ms) => Some(now_ms.load(Ordering::SeqCst)),
        }
    }
}

/// How a store is used.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What governs runs.
    pub settings: Settings,
    /// What events name as their source.
    pub sources: Sources,
    /// Whose time counts.
    pub clock: Clock,
    /// What this process is called, if no other may have the name meanwhile. A SQLite file has one server, and needs nothing else to tell it apart.
    pub name: Option<String>,
}

/// What every verb of one open store shares.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) options: Options,
    snowflakes: Mutex<Snowflakes>,
    illegal: AtomicU64,
    /// The numbers of runs that could not be read.
    passed_over: Mutex<HashSet<i64>>,
}

impl Context {
    /// Starts with the number that this process writes into its event ids.
    pub(crate) fn new(options: Options, node: u16) -> Self {
        Self {
            options,
            snowflakes: Mutex::new(Snowflakes::new(node)),
            illegal: AtomicU64::new(0),
            passed_over: Mutex::default(),
        }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.options.settings
    }

    /// Makes events of what a change tells; the first of them is what led to the others.
    pub(crate) fn events(&self, ids: &Ids, told: &[Payload], now_ms: i64) -> Vec<Event> {
        let time = Time::from_unix_us(now_ms.saturating_mul(1000));
        led_by_the_first(told.iter().map(|payload| self.event(ids, payload, time.clone(), now_ms)))
    }

    /// Makes events of what is told of an execution that something else started.
    pub(crate) fn events_of_observed(
        &self,
        of: (TenantId, RunId),
        told: &[Payload],
        now_ms: i64,
    ) -> Vec<Event> {
        let time = Time::from_unix_us(now_ms.saturating_mul(1000));
        led_by_the_first(told.iter().map(|payload| {
            Event::of_observed(self.event_id(now_ms), time.clone(), of, payload, &self.options.sources)
        }))
    }

    /// Makes an event of something that was told at a time of its own.
    pub(crate) fn event(&self, ids: &Ids, payload: &Payload, time: Time, now_ms: i64) -> Event {
        Event::new(self.event_id(now_ms), time, ids, payload, &self.options.sources)
    }

    /// An id of this moment, by this machine's clock: ids need only differ, so that no database has to be asked.
    pub(crate) fn next_event_id(&self) -> EventId {
        let now_ms = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let now_ms = self.options.clock.by_hand_ms().unwrap_or_else(|| now_ms().try_into().unwrap_or(0));
        self.event_id(now_ms)
    }

    fn event_id(&self, now_ms: i64) -> EventId {
        self.snowflakes().next(now_ms.try_into().unwrap_or(0))
    }

    /// Leaves out the ids of a while, which another process with the same number has used: numbers are given out round and round.
    pub(crate) fn skip_event_ids(&self) {
        let mut snowflakes = self.snowflakes();
        let latest = snowflakes.next(0);
        snowflakes.next(latest.unix_ms() + SKIPPED_MS);
    }

    fn snowflakes(&self) -> MutexGuard<'_, Snowflakes> {
        // Making an id cannot fail half-way, so what a panicking thread left behind is whole.
        self.snowflakes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Logs a run that is passed over, once: it is found again and again.
    pub(crate) fn pass_over(&self, unreadable: &Unreadable) {
        let Unreadable { number, problem } = unreadable;
        // A set of numbers is whole whatever a panicking thread was about.
        let mut passed_over = self.passed_over.lock().unwrap_or_else(PoisonError::into_inner);
        if passed_over.insert(*number) {
            tracing::warn!(number, %problem, "a run cannot be read, and is passed over");
        }
    }

    pub(crate) fn count_illegal(&self) {
        self.illegal.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn illegal(&self) -> u64 {
        self.illegal.load(Ordering::Relaxed)
    }
}

/// Says of all events but the first that the first led to them.
fn led_by_the_first(events: impl Iterator<Item = Event>) -> Vec<Event> {
    let mut events: Vec<Event> = events.collect();
    if let Some((first, others)) = events.split_first_mut() {
        others.iter_mut().for_each(|event| event.causation_id = Some(first.event_id));
    }
    events
}
