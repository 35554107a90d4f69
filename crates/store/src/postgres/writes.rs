//! What a transaction is going to write: one statement for all rows of a table, whose columns go as arrays.

use futures_util::future::try_join_all;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Statement};
use trueup_events::{Event, Mark};

use super::pool::Connection;
use super::rows::{Json, key};
use crate::columns::{Columns, json};
use crate::observed::{Observed, SeenColumns};
use crate::record::{Entry, Record};
use crate::tx::{Move, Note};

/// What was asked for since the last flight.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    runs: Vec<Record>,
    moves: Vec<(String, Columns, Columns)>,
    opened: Vec<(Observed, SeenColumns)>,
    observed: Vec<(Observed, SeenColumns)>,
    events: Vec<Event>,
    entries: Vec<Entry>,
}

impl Writes {
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
            && self.moves.is_empty()
            && self.opened.is_empty()
            && self.observed.is_empty()
            && self.events.is_empty()
            && self.entries.is_empty()
    }

    /// Whether events are among it.
    pub(crate) fn tells(&self) -> bool {
        !self.events.is_empty()
    }

    pub(crate) fn insert(&mut self, record: &Record, note: &Note) {
        self.runs.push(record.clone());
        self.tell(note);
    }

    pub(crate) fn change(&mut self, one: &Move) {
        let id = key(one.before.ids.run_id);
        self.moves.push((id, Columns::of(&one.before), Columns::of(&one.after)));
        one.notes.iter().for_each(|note| self.tell(note));
    }

    pub(crate) fn put_observed(&mut self, observed: &Observed, note: Option<&Note>) {
        let to = if observed.is_new() { &mut self.opened } else { &mut self.observed };
        to.push((observed.clone(), SeenColumns::of(&observed.seen)));
        note.into_iter().for_each(|note| self.tell(note));
    }

    pub(crate) fn audit(&mut self, entry: &Entry) {
        self.entries.push(entry.clone());
    }

    /// Adds events whose ids nobody should have used.
    pub(crate) fn append(&mut self, events: &[Event]) {
        self.events.extend_from_slice(events);
    }

    fn tell(&mut self, note: &Note) {
        self.events.extend(note.events.iter().cloned());
        self.entries.push(note.entry.clone());
    }

    /// Sends everything in one flight; what depends on something goes after it.
    pub(crate) async fn send(&self, connection: &Connection) -> Result<(), Error> {
        let Connection { client, sql, .. } = connection;
        let mut flight: Vec<(&Statement, Vec<Param<'_>>)> = Vec::new();
        if !self.runs.is_empty() {
            flight.push((&sql.insert_run, run_params(&self.runs)));
        }
        if !self.moves.is_empty() {
            flight.push((&sql.write_run, move_params(&self.moves)));
        }
        if !self.opened.is_empty() {
            flight.push((&sql.insert_observed, opened_params(&self.opened)));
        }
        if !self.observed.is_empty() {
            flight.push((&sql.write_observed, observed_params(&self.observed)));
        }
        if !self.events.is_empty() {
            flight.push((&sql.tell_events, event_params(self.events.iter())));
        }
        if !self.entries.is_empty() {
            flight.push((&sql.insert_audit, entry_params(&self.entries)));
        }
        try_join_all(flight.iter().map(|(statement, params)| execute(client, statement, params))).await?;
        Ok(())
    }
}

/// A parameter that a statement is given.
pub(crate) type Param<'a> = Box<dyn ToSql + Sync + Send + 'a>;

/// Executes a statement; it is on its way as soon as this is polled.
pub(crate) async fn execute(
    client: &Client,
    statement: &Statement,
    params: &[Param<'_>],
) -> Result<u64, Error> {
    let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|param| &**param as _).collect();
    client.execute(statement, &params).await
}

/// A column of many rows.
fn column<'a, R: 'a, T: ToSql + Sync + Send + 'a>(
    rows: impl IntoIterator<Item = R>,
    of: impl Fn(R) -> T,
) -> Param<'a> {
    Box::new(rows.into_iter().map(of).collect::<Vec<T>>())
}

fn run_params(records: &[Record]) -> Vec<Param<'_>> {
    vec![
        column(records, |record| key(record.id())),
        column(records, |record| record.run.ids.tenant_id.to_string()),
        column(records, |record| record.run.ids.job_id.to_string()),
        column(records, |record| i64::from(record.revision)),
        column(records, |record| &record.queue),
        column(records, |record| Json(record.params.clone())),
        column(records, |record| record.mode.name()),
        column(records, |record| &record.triggered_by),
        column(records, |record| record.requested_at_ms),
        column(records, |record| record.run.policy.deadline_ms),
        column(records, |record| i64::from(record.run.policy.retries)),
        column(records, |record| record.run.state.status().name()),
        column(records, |record| record.run.epoch.0.cast_signed()),
    ]
}

fn move_params(moves: &[(String, Columns, Columns)]) -> Vec<Param<'_>> {
    let before = || moves.iter().map(|(_, before, _)| before);
    let after = || moves.iter().map(|(_, _, after)| after);
    let text = |text: &Option<String>| text.clone().map(Json);
    vec![
        column(moves, |(id, _, _)| id),
        column(before(), |life| life.epoch),
        column(before(), |life| &life.state),
        column(after(), |life| &life.state),
        column(after(), |life| life.epoch),
        column(after(), |life| &life.executor),
        column(after(), |life| life.due_at_ms),
        column(after(), |life| life.submits),
        column(after(), |life| life.attempt),
        column(after(), |life| &life.worker),
        column(after(), |life| life.deadline_at_ms),
        column(after(), |life| life.finished_at_ms),
        column(after(), |life| &life.verdict),
        column(after(), |life| text(&life.error)),
        column(after(), |life| text(&life.cancel)),
        column(after(), |life| text(&life.beside)),
    ]
}

fn opened_params(opened: &[(Observed, SeenColumns)]) -> Vec<Param<'_>> {
    let mut params = observed_params(opened);
    // Behind what was seen, and before when.
    params.insert(6, column(opened, |(observed, _)| observed.opened_at_ms));
    params
}

fn observed_params(observed: &[(Observed, SeenColumns)]) -> Vec<Param<'_>> {
    vec![
        column(observed, |(observed, _)| key(observed.id)),
        column(observed, |(observed, _)| observed.tenant_id.to_string()),
        column(observed, |(_, seen)| &seen.name),
        column(observed, |(_, seen)| &seen.state),
        column(observed, |(_, seen)| Json(seen.steps.clone())),
        column(observed, |(_, seen)| seen.cancel.clone().map(Json)),
        column(observed, |(observed, _)| observed.updated_at_ms),
        column(observed, |(observed, _)| observed.finished_at_ms),
        column(observed, |(observed, _)| observed.changes),
    ]
}

/// The columns of events, in the order in which every statement lists them.
pub(crate) fn event_params<'a>(events: impl Iterator<Item = &'a Event> + Clone) -> Vec<Param<'a>> {
    let extensions = |event: &Event| (!event.extensions.is_empty()).then(|| Json(json(&event.extensions)));
    vec![
        column(events.clone(), |event| event.event_id.get().cast_signed()),
        column(events.clone(), |event| event.tenant_id.to_string()),
        column(events.clone(), |event| key(event.run_id)),
        column(events.clone(), |event| event.name.as_str()),
        column(events.clone(), |event| event.source.as_str()),
        column(events.clone(), |event| event.time.as_str()),
        column(events.clone(), |event| Json(event.data.to_string())),
        column(events.clone(), |event| event.causation_id.map(|id| id.get().cast_signed())),
        column(events.clone(), |event| event.traceparent.as_deref()),
        column(events.clone(), extensions),
        column(events.clone(), |event| event.details.as_deref().map(|details| Json(json(details)))),
        column(events.clone(), |event| event.stamped_here),
        column(events, |event| event.mark.map(Mark::name)),
    ]
}

fn entry_params(entries: &[Entry]) -> Vec<Param<'_>> {
    vec![
        column(entries, |entry| entry.at_ms),
        column(entries, |entry| entry.tenant_id.to_string()),
        column(entries, |entry| &entry.actor),
        column(entries, |entry| entry.action.as_ref()),
        column(entries, |entry| &entry.subject),
        column(entries, |entry| Json(entry.detail.to_string())),
    ]
}
