//! The connections that read beside the writer.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::error::kind;
use super::inspect;
use super::migrate;
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
    access: Access,
}

/// What readers may do to a file that they do not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Read it: somebody else makes and removes the files beside it that SQLite needs for that, a writer of this process or of another.
    Beside,
    /// Make and remove those files.
    Alone,
    /// Read it as it is, since nobody writes it.
    Still,
}

impl Readers {
    pub(crate) fn beside_a_writer(path: PathBuf) -> Self {
        let places = Arc::new(Semaphore::new(READERS_MAX));
        Self { path: Arc::new(path), idle: Arc::default(), places, access: Access::Beside }
    }

    /// Reads a store of this version's without a writer, where nothing may be written as well.
    pub(crate) fn alone(path: PathBuf) -> Result<Self, StoreError> {
        let may_write = inspect::refuse_read_only(&path).is_ok();
        let unwritten = if inspect::is_open(&path) { Access::Beside } else { Access::Still };
        let readers = Self::beside_a_writer(path);
        let reading = |access| {
            let readers = Self { access, ..readers.clone() };
            readers.check().map(|()| readers)
        };
        if !may_write {
            return reading(unwritten);
        }
        reading(Access::Alone).or_else(|error| match error {
            // The system lets others write there, but not this user, or nobody on this disk.
            StoreError::NoPlace { .. } | StoreError::ReadOnly { .. } => reading(unwritten),
            other => Err(other),
        })
    }

    fn check(&self) -> Result<(), StoreError> {
        let connection = self.connection().map_err(|error| kind(&error, "opening the store"))?;
        migrate::refuse_other(&connection)
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
                let open = |access| {
                    Connection::open_with_flags(&*self.path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)
                };
                let mut connection = match self.access {
                    Access::Beside => open(OpenFlags::SQLITE_OPEN_READ_ONLY)?,
                    Access::Alone => open(OpenFlags::SQLITE_OPEN_READ_WRITE)?,
                    Access::Still => inspect::open_unlocked(&self.path)?,
                };
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
