//! Looks at a file before SQLite does, so that one that is no store of ours is left as it is.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};

use super::error::kind;
use super::migrate;
use super::open::APPLICATION_ID;
use crate::error::StoreError;

/// A file no larger than this is checked from end to end before anybody writes it.
const CHECKED_BYTES_MAX: u64 = 64 << 20;
/// For how long a larger one is.
const CHECKED_FOR: Duration = Duration::from_secs(1);
/// What opening a store writes first, and what any verb goes by: few pages, which are checked however large the file is.
const CHECKED_FIRST: [&str; 4] = ["meta", "tenants", "queues", "jobs"];
/// What the first bytes of every SQLite database are.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const HEADER_LEN: usize = 100;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing, or an empty file.
    Nothing,
    /// A store that is whole.
    Whole,
    /// A store that another process uses, or that was not closed: only SQLite can tell whether it is whole.
    InUse,
}

/// How much of a store to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// That its tables are known.
    Schema,
    /// That every page is sound; of very many those that come first, and as many as can be looked at in a moment.
    Pages,
}

/// How many links may lead to a file, as on Linux.
const LINKS_MAX: usize = 40;

/// The one name of a file, by whatever names it is opened: what is beside it, its lock above all, is found by that. A link may lead to a file that is not
/// there yet, which SQLite would make.
pub(crate) fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let mut named = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(target) = fs::read_link(&named) else { return named };
        named = named.parent().unwrap_or(Path::new("")).join(target);
    }
    path.to_owned()
}

/// Says what is at a path, without changing it; what is no store of ours, or is damaged, is refused.
pub(crate) fn inspect(path: &Path, depth: Depth) -> Result<Found, StoreError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return inspect_folder(path).map(|()| Found::Nothing);
        }
        Err(error) => return Err(no_place(path, &error)),
    };
    if !metadata.is_file() {
        let problem = format!("{} is a folder or a device", path.display());
        return Err(StoreError::Foreign { problem });
    }
    refuse_names(&metadata)?;
    if metadata.len() > 0 {
        Header::read(path)?.refuse_foreign()?;
    }
    if metadata.len() == 0 { Ok(Found::Nothing) } else { inspect_pages(path, &metadata, depth) }
}

/// Refuses a file that has several names: by each of them it would have a log of writes and a lock of its own, and two logs destroy it.
fn refuse_names(metadata: &Metadata) -> Result<(), StoreError> {
    match metadata.nlink() {
        0 | 1 => Ok(()),
        names => Err(StoreError::Named { names }),
    }
}

/// Checks the pages, as long as nobody changes them.
fn inspect_pages(path: &Path, metadata: &Metadata, depth: Depth) -> Result<Found, StoreError> {
    if has_log(path) {
        return Ok(Found::InUse);
    }
    let checked = Header::read(path)?
        .refuse_truncated(metadata.len())
        .and_then(|()| check(&unlocked(path)?, depth, metadata.len()));
    match checked {
        Ok(()) => Ok(Found::Whole),
        // Another process came between, and what was read is of two times.
        Err(_) if has_log(path) || stamp(path) != Some((metadata.len(), metadata.modified().ok())) => {
            Ok(Found::InUse)
        }
        Err(error) => Err(error),
    }
}

/// Checks a store as SQLite sees it.
pub(crate) fn check(connection: &Connection, depth: Depth, len: u64) -> Result<(), StoreError> {
    let error = |error| kind(&error, "checking the store");
    if depth == Depth::Schema {
        // Any question makes SQLite read the schema.
        return connection.pragma_query(None, "table_list", |_| Ok(())).map_err(error);
    }
    let found = if len > CHECKED_BYTES_MAX { check_large(connection) } else { faults(connection, 1) };
    match found.map_err(error)?.into_iter().find(|fault| fault != "ok") {
        Some(problem) => Err(StoreError::Damaged { problem }),
        None => Ok(()),
    }
}

/// Checks a large store: what comes first, and then the whole for as long as one can be asked to wait.
fn check_large(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut found = Vec::new();
    for table in CHECKED_FIRST {
        found.append(&mut faults(connection, table)?);
    }
    let (done, waits) = mpsc::channel::<()>();
    let clock = connection.get_interrupt_handle();
    let whole = thread::scope(|scope| {
        scope.spawn(move || {
            if waits.recv_timeout(CHECKED_FOR) == Err(RecvTimeoutError::Timeout) {
                clock.interrupt();
            }
        });
        let whole = faults(connection, 1);
        drop(done);
        whole
    });
    match whole {
        // What was looked at until then is sound.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(found),
        whole => {
            found.append(&mut whole?);
            Ok(found)
        }
    }
}

/// What SQLite finds in a table, or the first thing that it finds anywhere: `ok` if nothing is wrong.
fn faults(connection: &Connection, of: impl ToSql) -> rusqlite::Result<Vec<String>> {
    let mut found = Vec::new();
    connection.pragma(None, "quick_check", of, |row| {
        found.push(row.get(0)?);
        Ok(())
    })?;
    Ok(found)
}

fn unlocked(path: &Path) -> Result<Connection, StoreError> {
    open_unlocked(path).map_err(|error| kind(&error, "checking the store"))
}

/// Opens a file that nobody writes, in a way that leaves no trace beside it.
pub(crate) fn open_unlocked(path: &Path) -> rusqlite::Result<Connection> {
    // SQLite takes a relative path in a URI, too.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file:");
    for c in path.to_string_lossy().chars() {
        match c {
            '%' => uri.push_str("%25"),
            '?' => uri.push_str("%3f"),
            '#' => uri.push_str("%23"),
            _ => uri.push(c),
        }
    }
    uri.push_str("?immutable=1");
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(uri, flags)
}

/// The first bytes of a file that claims to be an SQLite database.
struct Header([u8; HEADER_LEN]);

impl Header {
    fn read(path: &Path) -> Result<Self, StoreError> {
        let mut bytes = [0; HEADER_LEN];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
        match read {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                let problem = "it is too short to be an SQLite database".to_owned();
                Err(StoreError::Foreign { problem })
            }
            Err(error) => Err(no_place(path, &error)),
            Ok(()) => Ok(Self(bytes)),
        }
    }

    fn refuse_foreign(&self) -> Result<(), StoreError> {
        if !self.0.starts_with(MAGIC) {
            let problem = "it does not begin as an SQLite database does".to_owned();
            return Err(StoreError::Foreign { problem });
        }
        let application_id = self.number(68).cast_signed();
        if application_id != APPLICATION_ID {
            let problem = format!("it is an SQLite database of another application ({application_id:#x})");
            return Err(StoreError::Foreign { problem });
        }
        migrate::refuse_newer(self.number(60).into())
    }

    fn refuse_truncated(&self, len: u64) -> Result<(), StoreError> {
        // A page size of 64 KiB does not fit, and is written as 1.
        let page_size = match u16::from_be_bytes([self.0[16], self.0[17]]) {
            1 => 1 << 16,
            size => u64::from(size),
        };
        let pages = u64::from(self.number(28));
        if len < pages * page_size {
            let problem =
                format!("it should have {pages} pages of {page_size} bytes, and has {len} bytes in all");
            return Err(StoreError::Damaged { problem });
        }
        Ok(())
    }

    fn number(&self, at: usize) -> u32 {
        u32::from_be_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
    }
}

fn inspect_folder(path: &Path) -> Result<(), StoreError> {
    let folder = folder(path);
    let metadata = fs::metadata(folder).map_err(|error| no_place(folder, &error))?;
    if !metadata.is_dir() {
        return Err(StoreError::NoPlace { problem: format!("{} is no folder", folder.display()) });
    }
    Ok(())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Respects that nobody may write a file or its folder, even where the system would let a mighty user do so.
pub(crate) fn refuse_read_only(path: &Path) -> Result<(), StoreError> {
    let is_read_only =
        |path: &&Path| fs::metadata(path).is_ok_and(|metadata| metadata.permissions().readonly());
    match [path, folder(path)].into_iter().find(is_read_only) {
        Some(path) => Err(StoreError::ReadOnly { problem: format!("nobody may write {}", path.display()) }),
        None => Ok(()),
    }
}

/// Whether there is a log of writes beside a file, though it may be empty.
pub(crate) fn is_open(path: &Path) -> bool {
    beside(path, "-wal").exists()
}

/// Whether there are writes beside the file that are not in it yet.
fn has_log(path: &Path) -> bool {
    ["-wal", "-journal"]
        .into_iter()
        .any(|suffix| fs::metadata(beside(path, suffix)).is_ok_and(|metadata| metadata.len() > 0))
}

fn stamp(path: &Path) -> Option<(u64, Option<SystemTime>)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}

/// The file beside another that has its name and something more.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

fn no_place(path: &Path, error: &io::Error) -> StoreError {
    StoreError::NoPlace { problem: format!("{}: {error}", path.display()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_found_however_large_a_file_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        drop(super::super::open::open(&path, Found::Nothing, Depth::Pages, None).unwrap());
        let whole = fs::read(&path).unwrap();
        let root = "select rootpage from sqlite_schema where name = ?";
        let page = |table: &str| -> usize {
            unlocked(&path).unwrap().query_row(root, [table], |row| row.get::<_, u16>(0)).unwrap().into()
        };
        let pages = ["tenants", "jobs", "runs", "events", "audit"].map(page);
        let check = || check(&unlocked(&path).unwrap(), Depth::Pages, u64::MAX);
        check().unwrap();
        for page in pages {
            let mut damaged = whole.clone();
            damaged[(page - 1) * 4096..page * 4096].fill(0xa5);
            fs::write(&path, damaged).unwrap();
            let found = check().unwrap_err();
            assert!(matches!(found, StoreError::Damaged { .. }), "page {page}: {found:?}");
        }
    }
}
