//! What a verb can do in its transaction, in SQLite's SQL.

mod kept;
mod keys;
mod observed;

use rusqlite::{Connection, ErrorCode, ToSql, params};
use trueup_events::{Event, EventId, RunId, TenantId};
use trueup_lifecycle::Limits;

use super::error::kind;
use super::rows::{self, Loaded};
use super::sql;
use crate::columns::{Columns, json};
use crate::error::StoreError;
use crate::record::{Entry, Job, JobDocument, NewRun, Pass, Record};
use crate::tx::{Found, Move, Note, Offer, Opening, Revision, Search, Tx, WaitingQueue};

/// The writer's transaction, for the time of one verb; it never waits.
pub(crate) struct SqliteTx<'a> {
    /// Borrowed mutably, though reading would do, so that the transaction can go from thread to thread.
    pub(crate) connection: &'a mut Connection,
    /// What is being done, for errors.
    pub(crate) doing: &'static str,
}

impl SqliteTx<'_> {
    /// Does something in the database, and says of an error what was being done.
    fn ask<T>(&self, ask: impl FnOnce(&Connection) -> Loaded<T>) -> Result<T, StoreError> {
        ask(self.connection).map_err(|unread| unread.while_doing(self.doing))
    }

    fn write_one(&self, change: &Move) -> Result<(), StoreError> {
        let (before, after) = (&change.before, Columns::of(&change.after));
        let changed = self.ask(|connection| {
            let mut update = connection.prepare_cached(sql::WRITE_RUN)?;
            Ok(update.execute(params![
                before.ids.run_id.to_string(),
                before.epoch.0.cast_signed(),
                before.state.status().name(),
                after.state,
                after.epoch,
                after.executor,
                after.due_at_ms,
                after.submits,
                after.attempt,
                after.worker,
                after.deadline_at_ms,
                after.finished_at_ms,
                after.verdict,
                after.error,
                after.cancel,
                after.beside,
            ])?)
        })?;
        if changed != 1 {
            return Err(StoreError::Contended { doing: self.doing });
        }
        change.notes.iter().try_for_each(|note| self.tell(note))
    }

    fn tell(&self, note: &Note) -> Result<(), StoreError> {
        self.log(&note.events, |_, _| Err(StoreError::EventIdTaken { doing: self.doing })).map(drop)?;
        self.enter(&note.entry)
    }

    /// Adds events to the log; of one that is there already, the caller says what that means. Names those.
    fn log(
        &self,
        events: &[Event],
        is_there: impl Fn(&Event, &Event) -> Result<(), StoreError>,
    ) -> Result<Vec<EventId>, StoreError> {
        let (mut rest, mut repeated) = (events, Vec::new());
        // A statement that fails adds nothing; then its events are tried one by one.
        let mut alone = 0;
        while let Some(first) = rest.first() {
            let tried = if alone > 0 { &rest[..1] } else { rest };
            let added = match rows::insert_events(self.connection, tried) {
                Ok(added) => added,
                Err(error) if error.sqlite_error_code() != Some(ErrorCode::ConstraintViolation) => {
                    return Err(kind(&error, self.doing));
                }
                Err(_) if tried.len() > 1 => {
                    alone = rows::STRIDES[0];
                    continue;
                }
                Err(error) => {
                    let before = self.logged(first.event_id)?.ok_or_else(|| kind(&error, self.doing))?;
                    is_there(&before, first)?;
                    repeated.push(first.event_id);
                    1
                }
            };
            rest = &rest[added..];
            alone = alone.saturating_sub(added);
        }
        Ok(repeated)
    }

    fn logged(&self, id: EventId) -> Result<Option<Event>, StoreError> {
        self.ask(|connection| rows::first(connection, sql::EVENT, [id.get().cast_signed()], rows::event))
    }

    fn enter(&self, entry: &Entry) -> Result<(), StoreError> {
        self.ask(|connection| {
            connection.prepare_cached(sql::INSERT_AUDIT)?.execute(params![
                entry.at_ms,
                entry.tenant_id.to_string(),
                entry.actor,
                entry.action,
                entry.subject,
                json(&entry.detail),
            ])?;
            Ok(())
        })
    }
}

impl SqliteTx<'_> {
    fn search(&self, search: &Search, limit: u32) -> Result<Vec<Found>, StoreError> {
        self.ask(|connection| {
            let find = |statement, of: &[&dyn ToSql]| rows::all(connection, statement, of, rows::found);
            match search {
                Search::Waiting { tenant_id, queue } => {
                    find(sql::FIND_WAITING, &[&tenant_id.to_string(), queue, &limit])
                }
                Search::PauseOver { now_ms } => find(sql::FIND_PAUSE_OVER, &[now_ms, &limit]),
                Search::StaleClaims { now_ms, own } => find(sql::FIND_STALE_CLAIMS, &[now_ms, own, &limit]),
                Search::HandedOff { before_ms } => find(sql::FIND_HANDED_OFF, &[before_ms, &limit]),
                Search::ToTake { by_hand_ms } => find(sql::FIND_TO_TAKE, &[by_hand_ms, &limit]),
                Search::Overdue { now_ms } => find(sql::FIND_OVERDUE, &[now_ms, &limit]),
                Search::LeaseOut { now_ms } => find(sql::FIND_LEASE_OUT, &[now_ms, &limit]),
                Search::ToWithdraw { before_ms } => find(sql::FIND_TO_WITHDRAW, &[before_ms, &limit]),
                Search::Finished { before_ms, after: (at_ms, number) } => {
                    find(sql::FIND_FINISHED, &[before_ms, at_ms, number, &limit])
                }
            }
        })
    }
}

impl Tx for SqliteTx<'_> {
    async fn now_ms(&mut self) -> Result<i64, StoreError> {
        self.ask(|connection| Ok(connection.prepare_cached(sql::NOW_MS)?.query_row([], |row| row.get(0))?))
    }

    async fn run(&mut self, id: RunId) -> Result<Option<Record>, StoreError> {
        self.ask(|connection| rows::first(connection, sql::RUN, [id.to_string()], rows::record))
    }

    async fn runs(&mut self, ids: &[RunId]) -> Result<Vec<Record>, StoreError> {
        let load = |id: &RunId| {
            self.ask(|connection| rows::first(connection, sql::RUN, [id.to_string()], rows::record))
        };
        ids.iter().filter_map(|id| load(id).transpose()).collect()
    }

    async fn find(&mut self, searches: &[(Search, u32)]) -> Result<Vec<Vec<Found>>, StoreError> {
        searches.iter().map(|(search, limit)| self.search(search, *limit)).collect()
    }

    async fn waiting_queues(&mut self) -> Result<Vec<WaitingQueue>, StoreError> {
        self.ask(|connection| rows::all(connection, sql::WAITING_QUEUES, [], rows::waiting_queue))
    }

    async fn waiting(&mut self, tenant_id: TenantId, queue: &str, up_to: u32) -> Result<u64, StoreError> {
        let of = params![tenant_id.to_string(), queue, up_to];
        let count: i64 = self.ask(|connection| {
            Ok(connection.prepare_cached(sql::WAITING)?.query_row(of, |row| row.get(0))?)
        })?;
        Ok(count.cast_unsigned())
    }

    async fn limits(&mut self, tenant_id: TenantId, queue: &str) -> Result<Option<Limits>, StoreError> {
        let of = params![tenant_id.to_string(), queue];
        self.ask(|connection| rows::first(connection, sql::LIMITS, of, |row| rows::limits(row, 0)))
    }

    async fn set_limits(
        &mut self,
        tenant_id: TenantId,
        queue: &str,
        limits: Limits,
    ) -> Result<(), StoreError> {
        let of = params![tenant_id.to_string(), queue, limits.max_running, limits.max_waiting];
        self.ask(|connection| Ok(connection.prepare_cached(sql::SET_LIMITS)?.execute(of).map(drop)?))
    }

    async fn job(&mut self, tenant_id: TenantId, name: &str) -> Result<Option<Job>, StoreError> {
        let of = params![tenant_id.to_string(), name];
        self.ask(|connection| rows::first(connection, sql::JOB, of, rows::job))
    }

    async fn insert_revision(&mut self, revision: Revision<'_>) -> Result<(), StoreError> {
        let Revision { tenant_id, job_id, number, document, saved_at_ms, saved_by } = revision;
        let job_id = job_id.to_string();
        self.ask(|connection| {
            connection.prepare_cached(sql::SAVE_JOB)?.execute(params![
                job_id,
                tenant_id.to_string(),
                document.name,
                number
            ])?;
            connection.prepare_cached(sql::INSERT_REVISION)?.execute(params![
                job_id,
                number,
                json(&document.document),
                document.queue,
                document.policy.deadline_ms,
                document.policy.retries,
                saved_at_ms,
                saved_by,
            ])?;
            Ok(())
        })
    }

    async fn openings(&mut self, wishes: &[NewRun]) -> Result<Vec<Opening>, StoreError> {
        let mut openings = Vec::with_capacity(wishes.len());
        for NewRun { run_id, tenant_id, job, .. } in wishes {
            let before = self.run(RunId::Uuid(*run_id)).await?;
            let offer = match self.job(*tenant_id, job).await? {
                None => None,
                Some(Job { id: job_id, revision, document }) => {
                    let JobDocument { queue, policy, .. } = document;
                    let limits = self.limits(*tenant_id, &queue).await?;
                    Some(Offer { job_id, revision, queue, policy, limits })
                }
            };
            openings.push(Opening { before, offer });
        }
        Ok(openings)
    }

    async fn insert(&mut self, record: &Record, note: &Note) -> Result<(), StoreError> {
        let run = &record.run;
        self.ask(|connection| {
            connection.prepare_cached(sql::INSERT_RUN)?.execute(params![
                run.ids.run_id.to_string(),
                run.ids.tenant_id.to_string(),
                run.ids.job_id.to_string(),
                record.revision,
                record.queue,
                record.params,
                record.mode.name(),
                record.triggered_by,
                record.requested_at_ms,
                run.policy.deadline_ms,
                run.policy.retries,
                run.state.status().name(),
                run.epoch.0.cast_signed(),
            ])?;
            Ok(())
        })?;
        self.tell(note)
    }

    async fn write(&mut self, moves: &[Move]) -> Result<(), StoreError> {
        moves.iter().try_for_each(|change| self.write_one(change))
    }

    async fn checked(&mut self, runs: &[RunId], now_ms: i64) -> Result<(), StoreError> {
        self.ask(|connection| {
            let mut update = connection.prepare_cached(sql::CHECKED)?;
            for id in runs {
                update.execute(params![id.to_string(), now_ms])?;
            }
            Ok(())
        })
    }

    async fn withdrawn(&mut self, runs: &[RunId], now_ms: i64) -> Result<(), StoreError> {
        self.ask(|connection| {
            let mut update = connection.prepare_cached(sql::WITHDRAWN)?;
            for id in runs {
                update.execute(params![id.to_string(), now_ms])?;
            }
            Ok(())
        })
    }

    async fn next_pause(&mut self, now_ms: i64) -> Result<Option<i64>, StoreError> {
        self.ask(|connection| {
            Ok(connection.prepare_cached(sql::NEXT_PAUSE)?.query_row([now_ms], |row| row.get(0))?)
        })
    }

    async fn forget(&mut self, runs: &[RunId]) -> Result<(), StoreError> {
        self.ask(|connection| {
            for id in runs {
                connection.prepare_cached(sql::FORGET_EVENTS)?.execute([id.to_string()])?;
                connection.prepare_cached(sql::FORGET_RUN)?.execute([id.to_string()])?;
            }
            Ok(())
        })
    }

    async fn note_pass(&mut self, pass: &Pass) -> Result<(), StoreError> {
        let Pass { task, instance, at_ms, took_ms, seen, done, note } = pass;
        let of = params![task, instance, at_ms, took_ms, seen.cast_signed(), done.cast_signed(), note];
        self.ask(|connection| Ok(connection.prepare_cached(sql::NOTE_PASS)?.execute(of).map(drop)?))
    }

    async fn forget_passes(&mut self, before_ms: i64) -> Result<(), StoreError> {
        self.ask(|connection| {
            Ok(connection.prepare_cached(sql::FORGET_PASSES)?.execute([before_ms]).map(drop)?)
        })
    }

    async fn append(&mut self, events: &[Event]) -> Result<Vec<EventId>, StoreError> {
        self.log(events, |before, event| {
            if before.says_the_same(event) { Ok(()) } else { Err(StoreError::EventDiffers(event.event_id)) }
        })
    }

    async fn audit(&mut self, entry: &Entry) -> Result<(), StoreError> {
        self.enter(entry)
    }
}
