//! Connections that stay open from one transaction to the next.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::{Client, Error};
use trueup_connect::Server;

use super::error::failed;
use super::statements::Statements;
use crate::error::StoreError;

/// How many connections one store opens, listening aside.
const SIZE: usize = 16;
/// How many of them are kept back for heartbeats, reports and the sequencer, which never wait behind those that wait for a queue.
const KEPT_BACK: usize = 4;
/// How long anything may take before the server counts as away.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Whoever waits longer for a lock tries again. What is answered is on the disk, whatever the database's default is. Statements read a few rows each,
/// for which compiling them takes longer than running them, and which an index gives in their order: tables grow and queues empty faster than the planner learns of it.
const SETTINGS: &str = "set lock_timeout = '5s'; set idle_in_transaction_session_timeout = '60s'; set jit = off; \
     set enable_seqscan = off; set enable_bitmapscan = off; set enable_sort = off; \
     select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'";

/// The connections of one store.
#[derive(Debug)]
pub(crate) struct Pool {
    server: Server,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
    /// What those that are not urgent need as well.
    common: Arc<Semaphore>,
}

/// An open connection, with every statement prepared.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) sql: Statements,
    driver: JoinHandle<()>,
}

/// A connection that is in use; one that is dropped instead of given back is closed, and what it had begun is rolled back.
#[derive(Debug)]
pub(crate) struct Lent {
    pub(crate) connection: Connection,
    _permits: (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>),
}

impl Pool {
    pub(crate) fn new(server: Server) -> Self {
        let permits = |count| Arc::new(Semaphore::new(count));
        Self { server, idle: Mutex::default(), permits: permits(SIZE), common: permits(SIZE - KEPT_BACK) }
    }

    /// Lends a connection for one transaction, or a few reads.
    pub(crate) async fn lend(&self, doing: &'static str) -> Result<Lent, StoreError> {
        let common = permit(&self.common, doing).await?;
        self.lend_with(Some(common), doing).await
    }

    /// Lends a connection to what must not wait; those that are kept back will do.
    pub(crate) async fn lend_at_once(&self, doing: &'static str) -> Result<Lent, StoreError> {
        self.lend_with(None, doing).await
    }

    async fn lend_with(
        &self,
        common: Option<OwnedSemaphorePermit>,
        doing: &'static str,
    ) -> Result<Lent, StoreError> {
        let permits = (permit(&self.permits, doing).await?, common);
        if let Some(connection) = self.idle_one() {
            return Ok(Lent { connection, _permits: permits });
        }
        let no_answer = || StoreError::Away { doing, problem: "no answer".to_owned() };
        let connected = timeout(PATIENCE, Connection::open(&self.server)).await;
        let connection = connected.map_err(|_| no_answer())?.map_err(|error| failed(&error, doing))?;
        Ok(Lent { connection, _permits: permits })
    }

    /// Takes a connection back that is in no transaction.
    pub(crate) fn give_back(&self, lent: Lent) {
        self.idle().push(lent.connection);
    }

    /// Closes the connections that nobody uses, and waits until they are.
    pub(crate) async fn close(&self) {
        self.common.close();
        self.permits.close();
        let idle = std::mem::take(&mut *self.idle());
        for Connection { client, driver, .. } in idle {
            drop(client);
            // A connection that ended in an error has ended as well.
            drop(driver.await);
        }
    }

    fn idle_one(&self) -> Option<Connection> {
        let mut idle = self.idle();
        idle.retain(|connection| !connection.client.is_closed());
        idle.pop()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        // Pushing and popping cannot fail half-way, so what a panicking thread left behind is whole.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    pub(crate) async fn open(server: &Server) -> Result<Self, Error> {
        let (client, driver) = connect(server).await?;
        client.batch_execute(SETTINGS).await?;
        let sql = Statements::prepare(&client).await?;
        Ok(Self { client, sql, driver })
    }

    /// Waits until it is closed, by whomever.
    pub(crate) async fn lost(&mut self) {
        // A connection that ended in an error has ended as well.
        drop((&mut self.driver).await);
    }
}

/// Waits for the right to use a connection.
async fn permit(permits: &Arc<Semaphore>, doing: &'static str) -> Result<OwnedSemaphorePermit, StoreError> {
    let away = |problem: &str| StoreError::Away { doing, problem: problem.to_owned() };
    let permit = timeout(PATIENCE, Arc::clone(permits).acquire_owned()).await;
    permit.map_err(|_| away("all connections are in use"))?.map_err(|_| away("the store is closed"))
}

/// Connects, and drives the connection until its client is dropped.
pub(crate) async fn connect(server: &Server) -> Result<(Client, JoinHandle<()>), Error> {
    let (client, connection) = server.connect().await?;
    // What ends a connection is told to whoever waits for an answer.
    let driver = tokio::spawn(async move { drop(connection.await) });
    Ok((client, driver))
}
