//! A transaction in PostgreSQL.
//!
//! Statements that do not wait for each other's answers go out in one flight: the begin with the first load, and all writes with the commit.

mod kept;
mod keys;
mod observed;

use std::collections::{HashMap, HashSet};

use futures_util::future::{try_join, try_join_all, try_join3};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row, Statement};
use trueup_events::{Event, EventId, RunId, TenantId};
use trueup_lifecycle::Limits;

use super::error::failed;
use super::pool::Connection;
use super::rows::{self, Json, key};
use super::statements::Statements;
use super::writes::{Param, Writes, event_params};
use crate::error::StoreError;
use crate::record::{Entry, Job, NewRun, Pass, Record};
use crate::tx::{Found, Move, Note, Offer, Opening, Revision, Search, Tx, WaitingQueue};

/// Whatever the server's default is: verbs lock what they load, and need no more.
const BEGIN: &str = "begin isolation level read committed";

/// A transaction that begins with its first statement.
pub(crate) struct PgTx<'a> {
    connection: &'a Connection,
    doing: &'static str,
    /// Whether events that are told to it may be in the log already.
    is_careful: bool,
    has_begun: bool,
    /// Whether it has told anything that followers of the log wait for.
    has_told: bool,
    /// The time after the last lock was taken.
    now_ms: Option<i64>,
    writes: Writes,
}

impl<'a> PgTx<'a> {
    pub(crate) fn new(connection: &'a Connection, doing: &'static str, is_careful: bool) -> Self {
        let writes = Writes::default();
        Self { connection, doing, is_careful, has_begun: false, has_told: false, now_ms: None, writes }
    }

    /// Sends what is left to write along with the commit; says whether it told anything.
    pub(crate) async fn commit(mut self) -> Result<bool, StoreError> {
        let has_told = self.has_told || self.writes.tells();
        let begin = self.begin();
        let (writes, client) = (std::mem::take(&mut self.writes), &self.connection.client);
        let commit = client.batch_execute("commit");
        let sent = try_join3(begin, writes.send(self.connection), commit).await;
        sent.map_err(|error| self.failed(&error))?;
        Ok(has_told)
    }

    fn failed(&self, error: &Error) -> StoreError {
        failed(error, self.doing)
    }

    /// Begins, unless it has.
    fn begin(&mut self) -> impl Future<Output = Result<(), Error>> + Send + use<'a> {
        let (client, has_begun) = (&self.connection.client, std::mem::replace(&mut self.has_begun, true));
        async move { if has_begun { Ok(()) } else { client.batch_execute(BEGIN).await } }
    }

    /// Sends what is to be written, so that what follows sees it.
    async fn flush(&mut self) -> Result<(), StoreError> {
        if self.writes.is_empty() {
            return Ok(());
        }
        self.has_told |= self.writes.tells();
        let begin = self.begin();
        let writes = std::mem::take(&mut self.writes);
        let sent = try_join(begin, writes.send(self.connection)).await;
        sent.map(drop).map_err(|error| self.failed(&error))
    }

    async fn query(
        &mut self,
        statement: &Statement,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        self.flush().await?;
        let begin = self.begin();
        let sent = try_join(begin, self.connection.client.query(statement, params)).await;
        sent.map(|((), rows)| rows).map_err(|error| self.failed(&error))
    }

    /// Asks several times in one flight; the later ones see what was committed before the first had its locks.
    async fn query_all<const N: usize>(
        &mut self,
        asked: [(&Statement, &[&(dyn ToSql + Sync)]); N],
    ) -> Result<[Vec<Row>; N], StoreError> {
        self.flush().await?;
        let (begin, client) = (self.begin(), &self.connection.client);
        let answers = asked.map(|(statement, params)| client.query(statement, params));
        let sent = try_join(begin, try_join_all(answers)).await;
        let ((), answers) = sent.map_err(|error| self.failed(&error))?;
        answers
            .try_into()
            .map_err(|_| StoreError::Failed { doing: self.doing, problem: "answers are missing".to_owned() })
    }

    /// Checks that events which are in the log already say the same there.
    async fn compare(&mut self, given: &HashMap<EventId, &Event>) -> Result<(), StoreError> {
        let ids: Vec<i64> = given.keys().map(|id| id.get().cast_signed()).collect();
        let sql = &self.connection.sql;
        for row in self.query(&sql.event, &[&ids]).await? {
            let there = rows::event(&row)?;
            if !given.get(&there.event_id).is_some_and(|event| event.says_the_same(&there)) {
                return Err(StoreError::EventDiffers(there.event_id));
            }
        }
        Ok(())
    }
}

impl Tx for PgTx<'_> {
    async fn now_ms(&mut self) -> Result<i64, StoreError> {
        if let Some(now_ms) = self.now_ms {
            return Ok(now_ms);
        }
        let sql = &self.connection.sql;
        let row = self.query(&sql.now_ms, &[]).await?;
        Ok(*self.now_ms.insert(number(&row)))
    }

    async fn run(&mut self, id: RunId) -> Result<Option<Record>, StoreError> {
        let sql = &self.connection.sql;
        let id = key(id);
        let [found, now] = self.query_all([(&sql.run, &[&id]), (&sql.now_ms, &[])]).await?;
        self.now_ms = Some(number(&now));
        found.first().map(rows::record).transpose()
    }

    async fn runs(&mut self, ids: &[RunId]) -> Result<Vec<Record>, StoreError> {
        let sql = &self.connection.sql;
        let ids: Vec<String> = ids.iter().copied().map(key).collect();
        let [found, now] = self.query_all([(&sql.runs_by_id, &[&ids]), (&sql.now_ms, &[])]).await?;
        self.now_ms = Some(number(&now));
        found.iter().map(rows::record).collect()
    }

    async fn find(&mut self, searches: &[(Search, u32)]) -> Result<Vec<Vec<Found>>, StoreError> {
        self.flush().await?;
        let (begin, Connection { client, sql, .. }) = (self.begin(), self.connection);
        let answers = searches.iter().map(async |(search, limit)| {
            let (statement, params) = query(sql, search, *limit);
            let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|param| &**param as _).collect();
            client.query(statement, &params).await
        });
        // After the locks, as everywhere.
        let known_ms = self.now_ms;
        let now = async {
            match known_ms {
                Some(now_ms) => Ok(now_ms),
                None => client.query(&sql.now_ms, &[]).await.map(|row| number(&row)),
            }
        };
        let sent = try_join3(begin, try_join_all(answers), now).await;
        let ((), answers, now_ms) = sent.map_err(|error| self.failed(&error))?;
        self.now_ms = Some(now_ms);
        Ok(answers.iter().map(|rows| rows.iter().map(rows::found).collect()).collect())
    }

    async fn waiting_queues(&mut self) -> Result<Vec<WaitingQueue>, StoreError> {
        let sql = &self.connection.sql;
        let asked = [(&sql.lock_queues, &[][..]), (&sql.waiting_queues, &[]), (&sql.now_ms, &[])];
        let [locked, queues, now] = self.query_all(asked).await?;
        self.now_ms = Some(number(&now));
        let is_open = |queue: &Row| {
            let name = |row: &Row| (row.get::<_, String>(0), row.get::<_, String>(1));
            queue.get::<_, Option<i64>>(2).is_none() || locked.iter().any(|ours| name(ours) == name(queue))
        };
        let waiting_queue = |row: &Row| {
            Ok(WaitingQueue {
                tenant_id: rows::tenant_id(row, 0)?,
                queue: row.get(1),
                limits: Limits { max_running: rows::limit(row, 2)?, max_waiting: rows::limit(row, 3)? },
                holding: row.get::<_, i64>(4).cast_unsigned(),
            })
        };
        queues.iter().filter(|queue| is_open(queue)).map(waiting_queue).collect()
    }

    async fn waiting(&mut self, tenant_id: TenantId, queue: &str, up_to: u32) -> Result<u64, StoreError> {
        let sql = &self.connection.sql;
        let (tenant_id, up_to) = (tenant_id.to_string(), i64::from(up_to));
        let lock = (&sql.lock_waiting, &[&tenant_id as _, &queue as _][..]);
        let count = (&sql.waiting, &[&tenant_id as _, &queue as _, &up_to as _][..]);
        let [_, counted] = self.query_all([lock, count]).await.map_err(|error| match error {
            // It holds nothing that another could wait for, so that it has waited too long.
            StoreError::Contended { .. } => StoreError::QueueBusy { queue: queue.to_owned() },
            other => other,
        })?;
        Ok(number(&counted).cast_unsigned())
    }

    async fn limits(&mut self, tenant_id: TenantId, queue: &str) -> Result<Option<Limits>, StoreError> {
        let sql = &self.connection.sql;
        let found = self.query(&sql.limits, &[&tenant_id.to_string(), &queue]).await?;
        let limits =
            |row: &Row| Ok(Limits { max_running: rows::limit(row, 0)?, max_waiting: rows::limit(row, 1)? });
        found.first().map(limits).transpose()
    }

    async fn set_limits(
        &mut self,
        tenant_id: TenantId,
        queue: &str,
        limits: Limits,
    ) -> Result<(), StoreError> {
        let sql = &self.connection.sql;
        let (running, waiting) = (limits.max_running.map(i64::from), limits.max_waiting.map(i64::from));
        self.query(&sql.set_limits, &[&tenant_id.to_string(), &queue, &running, &waiting]).await.map(drop)
    }

    async fn job(&mut self, tenant_id: TenantId, name: &str) -> Result<Option<Job>, StoreError> {
        let sql = &self.connection.sql;
        let found = self.query(&sql.job, &[&tenant_id.to_string(), &name]).await?;
        found.first().map(rows::job).transpose()
    }

    async fn insert_revision(&mut self, revision: Revision<'_>) -> Result<(), StoreError> {
        let Revision { tenant_id, job_id, number, document, saved_at_ms, saved_by } = revision;
        let sql = &self.connection.sql;
        let (tenant_id, job_id, number) = (tenant_id.to_string(), job_id.to_string(), i64::from(number));
        let text = Json(document.document.to_string());
        let (deadline_ms, retries) = (document.policy.deadline_ms, i64::from(document.policy.retries));
        let job = &[&job_id as _, &tenant_id as _, &document.name as _, &number as _][..];
        let saved = &[
            &job_id as _,
            &number as _,
            &text as _,
            &document.queue as _,
            &deadline_ms as _,
            &retries as _,
            &saved_at_ms as _,
            &saved_by as _,
        ][..];
        self.query_all([(&sql.save_job, job), (&sql.insert_revision, saved)]).await.map(drop)
    }

    async fn openings(&mut self, wishes: &[NewRun]) -> Result<Vec<Opening>, StoreError> {
        let sql = &self.connection.sql;
        let ids: Vec<String> = wishes.iter().map(|wish| key(RunId::Uuid(wish.run_id))).collect();
        let jobs: HashSet<(TenantId, &str)> =
            wishes.iter().map(|wish| (wish.tenant_id, wish.job.as_str())).collect();
        let (tenants, names): (Vec<String>, Vec<&str>) =
            jobs.into_iter().map(|(tenant_id, name)| (tenant_id.to_string(), name)).unzip();
        let wanted = &[&tenants as _, &names as _];
        let asked = [(&sql.runs_by_id, &[&ids as _][..]), (&sql.offers, wanted), (&sql.now_ms, &[])];
        let [before, offers, now] = self.query_all(asked).await?;
        self.now_ms = Some(number(&now));
        let before: Vec<Record> = before.iter().map(rows::record).collect::<Result<_, _>>()?;
        let mut before: HashMap<RunId, Record> =
            before.into_iter().map(|record| (record.id(), record)).collect();
        let offers: HashMap<(TenantId, String), Offer> =
            offers.iter().map(rows::offer).collect::<Result<_, _>>()?;
        let opening = |wish: &NewRun| Opening {
            before: before.remove(&RunId::Uuid(wish.run_id)),
            offer: offers.get(&(wish.tenant_id, wish.job.clone())).cloned(),
        };
        Ok(wishes.iter().map(opening).collect())
    }

    async fn insert(&mut self, record: &Record, note: &Note) -> Result<(), StoreError> {
        self.writes.insert(record, note);
        Ok(())
    }

    async fn write(&mut self, moves: &[Move]) -> Result<(), StoreError> {
        moves.iter().for_each(|one| self.writes.change(one));
        Ok(())
    }

    async fn checked(&mut self, runs: &[RunId], now_ms: i64) -> Result<(), StoreError> {
        if runs.is_empty() {
            return Ok(());
        }
        let sql = &self.connection.sql;
        let ids: Vec<String> = runs.iter().copied().map(key).collect();
        self.query(&sql.checked, &[&ids, &now_ms]).await.map(drop)
    }

    async fn withdrawn(&mut self, runs: &[RunId], now_ms: i64) -> Result<(), StoreError> {
        let sql = &self.connection.sql;
        let ids: Vec<String> = runs.iter().copied().map(key).collect();
        self.query(&sql.withdrawn, &[&ids, &now_ms]).await.map(drop)
    }

    async fn next_pause(&mut self, now_ms: i64) -> Result<Option<i64>, StoreError> {
        let sql = &self.connection.sql;
        let found = self.query(&sql.next_pause, &[&now_ms]).await?;
        Ok(found.first().and_then(|row| row.get(0)))
    }

    async fn forget(&mut self, runs: &[RunId]) -> Result<(), StoreError> {
        let sql = &self.connection.sql;
        let ids: Vec<String> = runs.iter().copied().map(key).collect();
        self.query(&sql.forget, &[&ids]).await.map(drop)
    }

    async fn note_pass(&mut self, pass: &Pass) -> Result<(), StoreError> {
        let Pass { task, instance, at_ms, took_ms, seen, done, note } = pass;
        let sql = &self.connection.sql;
        let (seen, done) = (seen.cast_signed(), done.cast_signed());
        self.query(&sql.note_pass, &[task, instance, at_ms, took_ms, &seen, &done, note]).await.map(drop)
    }

    async fn forget_passes(&mut self, before_ms: i64) -> Result<(), StoreError> {
        let sql = &self.connection.sql;
        self.query(&sql.forget_passes, &[&before_ms]).await.map(drop)
    }

    async fn append(&mut self, events: &[Event]) -> Result<Vec<EventId>, StoreError> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        if !self.is_careful {
            // They go with the commit; should one be there already, nothing is written, and the next attempt is careful.
            self.writes.append(events);
            return Ok(Vec::new());
        }
        let sql = &self.connection.sql;
        let params = event_params(events.iter());
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|param| &**param as _).collect();
        self.has_told = true;
        let added = self.query(&sql.append_events, &params).await?;
        let added: HashSet<i64> = added.iter().map(|row| row.get(0)).collect();
        let is_there = |event: &&Event| !added.contains(&event.event_id.get().cast_signed());
        let repeated: HashMap<EventId, &Event> =
            events.iter().filter(is_there).map(|event| (event.event_id, event)).collect();
        if !repeated.is_empty() {
            self.compare(&repeated).await?;
        }
        Ok(repeated.into_keys().collect())
    }

    async fn audit(&mut self, entry: &Entry) -> Result<(), StoreError> {
        self.writes.audit(entry);
        Ok(())
    }
}

/// What finds the runs of a search.
fn query<'a>(sql: &'a Statements, search: &'a Search, limit: u32) -> (&'a Statement, Vec<Param<'a>>) {
    let limit: Param<'_> = Box::new(i64::from(limit));
    match search {
        Search::Waiting { tenant_id, queue } => {
            (&sql.find_waiting, vec![Box::new(tenant_id.to_string()), Box::new(queue), limit])
        }
        Search::PauseOver { now_ms } => (&sql.find_pause_over, vec![Box::new(now_ms), limit]),
        Search::StaleClaims { now_ms, own } => {
            (&sql.find_stale_claims, vec![Box::new(now_ms), Box::new(own), limit])
        }
        Search::HandedOff { before_ms } => (&sql.find_handed_off, vec![Box::new(before_ms), limit]),
        Search::ToTake { by_hand_ms } => (&sql.find_to_take, vec![Box::new(by_hand_ms), limit]),
        Search::Overdue { now_ms } => (&sql.find_overdue, vec![Box::new(now_ms), limit]),
        Search::LeaseOut { now_ms } => (&sql.find_lease_out, vec![Box::new(now_ms), limit]),
        Search::ToWithdraw { before_ms } => (&sql.find_to_withdraw, vec![Box::new(before_ms), limit]),
        Search::Finished { before_ms, after: (at_ms, number) } => {
            (&sql.find_finished, vec![Box::new(before_ms), Box::new(at_ms), Box::new(number), limit])
        }
    }
}

/// The number that a statement gives, of one row and one column.
fn number(rows: &[Row]) -> i64 {
    rows.first().map_or(0, |row| row.get(0))
}
