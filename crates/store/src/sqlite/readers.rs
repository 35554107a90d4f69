//! The connections that read beside the writer.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::error::kind;
use super::rows::Loaded;
use crate::error::StoreError;

/// How many may read at once; more wait.
const READERS_MAX: usize = 4;

/// A few connections that cannot write, each used by one reader at a time.
#[derive(Debug, Clone)]
pub(crate) struct Readers {
    path: Arc<PathBuf>,
    idle: Arc<Mutex<Vec<Connection>>>,
    places: Arc<Semaphore>,
    /// Whether there is no writer of this process that tidies up the log of writes at the end.
    is_alone: bool,
}

impl Readers {
    pub(crate) fn beside_a_writer(path: PathBuf) -> Self {
        let places = Arc::new(Semaphore::new(READERS_MAX));
        Self { path: Arc::new(path), idle: Arc::default(), places, is_alone: false }
    }

    pub(crate) fn alone(path: PathBuf) -> Self {
        Self { is_alone: true, ..Self::beside_a_writer(path) }
    }

    /// Asks something of the file before anything is read from it.
    pub(crate) fn check(
        &self,
        ask: impl FnOnce(&Connection) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        ask(&self.connection().map_err(|error| kind(&error, "opening the store"))?)
    }

    /// Reads on a thread that may block, and sees all of it as of one moment.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        doing: &'static str,
        read: impl FnOnce(&Connection) -> Loaded<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let failed = |problem: String| StoreError::Failed { doing, problem };
        let place =
            Arc::clone(&self.places).acquire_owned().await.map_err(|error| failed(error.to_string()))?;
        let readers = self.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let connection = readers.connection().map_err(|error| kind(&error, doing))?;
            let answer = snapshot(&connection, read).map_err(|unread| unread.while_doing(doing));
            readers.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            drop(place);
            answer
        });
        reading.await.map_err(|error| failed(error.to_string()))?
    }

    fn connection(&self) -> rusqlite::Result<Connection> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(
            || {
                // Whoever is alone has to be able to remove the files beside the store that SQLite makes for readers, too.
                let access = if self.is_alone {
                    OpenFlags::SQLITE_OPEN_READ_WRITE
                } else {
                    OpenFlags::SQLITE_OPEN_READ_ONLY
                };
                let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                let mut connection = Connection::open_with_flags(&*self.path, flags)?;
                super::open::tune(&mut connection)?;
                connection.pragma_update(None, "query_only", true)?;
                Ok(connection)
            },
            Ok,
        )
    }

    /// Closes the connections that nobody uses.
    pub(crate) fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn snapshot<T>(connection: &Connection, read: impl FnOnce(&Connection) -> Loaded<T>) -> Loaded<T> {
    let snapshot = connection.unchecked_transaction()?;
    let answer = read(&snapshot)?;
    snapshot.finish()?;
    Ok(answer)
}
