//! Connections that stay open from one transaction to the next.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::{Client, Config, Error, NoTls};

use super::error::failed;
use super::statements::Statements;
use crate::error::StoreError;

/// How many connections one store opens, listening aside.
const SIZE: usize = 16;
/// How long anything may take before the server counts as away.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Whoever waits longer for a lock tries again. Statements read a few rows each, for which compiling them takes longer than running them.
const SETTINGS: &str =
    "set lock_timeout = '5s'; set idle_in_transaction_session_timeout = '60s'; set jit = off";

/// The connections of one store.
#[derive(Debug)]
pub(crate) struct Pool {
    config: Config,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
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
    _permit: OwnedSemaphorePermit,
}

impl Pool {
    pub(crate) fn new(config: Config) -> Self {
        Self { config, idle: Mutex::default(), permits: Arc::new(Semaphore::new(SIZE)) }
    }

    /// Lends a connection for one transaction, or a few reads.
    pub(crate) async fn lend(&self, doing: &'static str) -> Result<Lent, StoreError> {
        let away = |problem: &str| StoreError::Away { doing, problem: problem.to_owned() };
        let permit = timeout(PATIENCE, self.permits.clone().acquire_owned()).await;
        let permit = permit.map_err(|_| away("all connections are in use"))?;
        let permit = permit.map_err(|_| away("the store is closed"))?;
        if let Some(connection) = self.idle_one() {
            return Ok(Lent { connection, _permit: permit });
        }
        let connected = timeout(PATIENCE, Connection::open(&self.config)).await;
        let connection = connected.map_err(|_| away("no answer"))?.map_err(|error| failed(&error, doing))?;
        Ok(Lent { connection, _permit: permit })
    }

    /// Takes a connection back that is in no transaction.
    pub(crate) fn give_back(&self, lent: Lent) {
        self.idle().push(lent.connection);
    }

    /// Closes the connections that nobody uses, and waits until they are.
    pub(crate) async fn close(&self) {
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
    async fn open(config: &Config) -> Result<Self, Error> {
        let (client, driver) = connect(config).await?;
        client.batch_execute(SETTINGS).await?;
        let sql = Statements::prepare(&client).await?;
        Ok(Self { client, sql, driver })
    }
}

/// Connects, and drives the connection until its client is dropped.
pub(crate) async fn connect(config: &Config) -> Result<(Client, JoinHandle<()>), Error> {
    let (client, connection) = config.connect(NoTls).await?;
    // What ends a connection is told to whoever waits for an answer.
    let driver = tokio::spawn(async move { drop(connection.await) });
    Ok((client, driver))
}
