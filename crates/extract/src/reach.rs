//! Talks to a server: connects patiently, and gives up as soon as nobody wants it any more.

use std::error;
use std::io::{self, ErrorKind};
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};

use crate::database::Database;
use crate::error::{Error, Refused};

/// How long the server may be silent while a connection is made or lost.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// How long it may take to tell the server that nobody listens any more.
const FAREWELL: Duration = Duration::from_millis(500);
/// How often it is asked whether to go on while nothing comes.
const LOOK: Duration = Duration::from_millis(100);
/// How long is waited before each further attempt to connect.
const PAUSES_MS: [u64; 4] = [100, 200, 400, 800];

/// A connection, and what drives it while something is waited for.
pub(crate) struct Talk<'a> {
    database: &'a Database<'a>,
    runtime: Runtime,
}

impl<'a> Talk<'a> {
    /// Connects, on this thread.
    pub(crate) fn open<T, E: error::Error + 'static>(
        database: &'a Database<'a>,
        connect: impl AsyncFn() -> Result<T, E>,
        refused: impl Fn(&E) -> Error,
    ) -> Result<(Self, T), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| database.refused(Refused::Connection, error.to_string()))?;
        match runtime.block_on(connected(database, connect, refused)) {
            Ok(connection) => Ok((Self { database, runtime }, connection)),
            Err(error) => {
                // A name may still be looked up that nobody waits for.
                runtime.shutdown_background();
                Err(error)
            }
        }
    }

    /// Lets something go on beside all that is waited for.
    pub(crate) fn spawn(&self, task: impl Future<Output: Send> + Send + 'static) {
        self.runtime.spawn(task);
    }

    /// Waits for something as long as somebody wants it; if it fails, the server is told to leave it.
    pub(crate) fn wait<T>(
        &self,
        doing: impl Future<Output = Result<T, Error>>,
        leave: impl Future,
    ) -> Result<T, Error> {
        self.runtime.block_on(async {
            let done = unless_stopped(self.database.is_stopped, doing).await;
            if done.is_err() {
                // The server may be sorting for minutes before it would notice that nobody listens; whether it hears this or not, it has been left.
                drop(timeout(FAREWELL, leave).await);
            }
            done?
        })
    }
}

/// Makes a connection. While nobody is there, or whoever is hangs up at once, as servers do that are being started, it is
/// tried a few times; later nothing is, for rows may have been taken by then.
async fn connected<T, E: error::Error + 'static>(
    database: &Database<'_>,
    connect: impl AsyncFn() -> Result<T, E>,
    refused: impl Fn(&E) -> Error,
) -> Result<T, Error> {
    // On the heap, for what connecting takes is kept twice.
    let trying = Box::pin(async {
        for pause_ms in PAUSES_MS {
            match connect().await {
                Err(error) if is_passing(&error) => sleep(Duration::from_millis(pause_ms)).await,
                tried => return tried,
            }
        }
        connect().await
    });
    let patiently = async {
        match timeout(PATIENCE, trying).await {
            Ok(tried) => tried.map_err(|error| refused(&error)),
            Err(late) => Err(database.refused(Refused::Connection, late.to_string())),
        }
    };
    unless_stopped(database.is_stopped, patiently).await?
}

/// Whether a server that could not be reached may be there soon.
fn is_passing(error: &(dyn error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(|cause| {
        let is_closed = cause.downcast_ref().is_some_and(tokio_postgres::Error::is_closed);
        is_closed || cause.downcast_ref().is_some_and(is_passing_on_the_way)
    })
}

fn is_passing_on_the_way(lost: &io::Error) -> bool {
    matches!(
        lost.kind(),
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof
    )
}

/// Waits for something as long as somebody wants it.
pub(crate) async fn unless_stopped<T>(
    is_stopped: &(dyn Fn() -> bool + Sync),
    doing: impl Future<Output = T>,
) -> Result<T, Error> {
    let mut doing = pin!(doing);
    loop {
        match select(doing.as_mut(), pin!(sleep(LOOK))).await {
            Either::Left((done, _)) => return Ok(done),
            Either::Right(_) if is_stopped() => return Err(Error::Stopped),
            Either::Right(_) => {}
        }
    }
}
