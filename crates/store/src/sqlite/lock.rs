//! Keeps a second server away from a file.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::time::SystemTime;

use trueup_events::Time;

use super::inspect::beside;
use crate::error::StoreError;

/// The right to be the one server on a file; it ends with the process at the latest.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock, or says who has it.
    pub(crate) fn take(path: &Path) -> Result<Self, StoreError> {
        let path = beside(path, ".lock");
        let problem =
            |error: io::Error| StoreError::NoPlace { problem: format!("{}: {error}", path.display()) };
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(problem)?;
        match file.try_lock() {
            Ok(()) => sign(&mut file).map_err(problem)?,
            Err(TryLockError::WouldBlock) => return Err(StoreError::Held { holder: holder(&mut file) }),
            Err(TryLockError::Error(error)) => return Err(problem(error)),
        }
        Ok(Self { file })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file would do, were it not for a child process that is just being started and has it open as well. It cannot fail for a
        // lock that is held.
        drop(self.file.unlock());
    }
}

/// Writes down who has the lock, for those who find it taken.
fn sign(file: &mut File) -> io::Result<()> {
    let since_us = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |age| age.as_micros());
    let since = Time::from_unix_us(i64::try_from(since_us).unwrap_or(i64::MAX));
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "process {}, since {since},", std::process::id())
}

/// Reads who has the lock; it may not have been written down yet.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    match file.read_to_string(&mut text) {
        Ok(_) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => "another process".to_owned(),
    }
}
