//! Which kind of error each of SQLite's is.

use rusqlite::ErrorCode;
use rusqlite::ffi;

use crate::error::StoreError;

/// Says what an error of SQLite's means for who asked.
pub(crate) fn kind(error: &rusqlite::Error, doing: &'static str) -> StoreError {
    let problem = error.to_string();
    let Some(failure) = error.sqlite_error() else {
        return of_value(error, problem, doing);
    };
    match (failure.code, failure.extended_code) {
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => StoreError::Contended { doing },
        // The shared memory lies in the store's folder, and could not grow.
        (ErrorCode::DiskFull, _) | (_, ffi::SQLITE_IOERR_SHMSIZE) => StoreError::Full { doing, problem },
        (_, ffi::SQLITE_READONLY_DBMOVED) => {
            StoreError::Foreign { problem: "another file was put in its place".to_owned() }
        }
        (ErrorCode::ReadOnly | ErrorCode::PermissionDenied, _) => StoreError::ReadOnly { problem },
        (ErrorCode::NotADatabase, _) => StoreError::Foreign { problem },
        (ErrorCode::DatabaseCorrupt, _) => StoreError::Damaged { problem },
        (ErrorCode::CannotOpen, _) => StoreError::NoPlace { problem },
        _ => StoreError::Failed { doing, problem },
    }
}

/// A value that its column should not hold is the store's fault, anything else our own.
fn of_value(error: &rusqlite::Error, problem: String, doing: &'static str) -> StoreError {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    match error {
        FromSqlConversionFailure(..)
        | IntegralValueOutOfRange(..)
        | InvalidColumnType(..)
        | Utf8Error(..) => StoreError::Damaged { problem },
        _ => StoreError::Failed { doing, problem },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_its_kind() {
        let table = [
            (ffi::SQLITE_BUSY, "Contended", true),
            (ffi::SQLITE_BUSY_SNAPSHOT, "Contended", true),
            (ffi::SQLITE_LOCKED, "Contended", true),
            (ffi::SQLITE_FULL, "Full", true),
            (ffi::SQLITE_IOERR_SHMSIZE, "Full", true),
            (ffi::SQLITE_READONLY, "ReadOnly", false),
            (ffi::SQLITE_READONLY_DIRECTORY, "ReadOnly", false),
            (ffi::SQLITE_PERM, "ReadOnly", false),
            (ffi::SQLITE_READONLY_DBMOVED, "Foreign", false),
            (ffi::SQLITE_NOTADB, "Foreign", false),
            (ffi::SQLITE_CORRUPT, "Damaged", false),
            (ffi::SQLITE_CORRUPT_INDEX, "Damaged", false),
            (ffi::SQLITE_CANTOPEN, "NoPlace", false),
            (ffi::SQLITE_IOERR_READ, "Failed", false),
            (ffi::SQLITE_CONSTRAINT_CHECK, "Failed", false),
            (ffi::SQLITE_ERROR, "Failed", false),
        ];
        for (code, name, passing) in table {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let kind = kind(&error, "testing");
            assert!(format!("{kind:?}").starts_with(name), "{code}: {kind:?}");
            assert_eq!(kind.is_passing(), passing, "{code}");
        }
    }

    #[test]
    fn a_value_that_makes_no_sense_is_damage() {
        let error = rusqlite::Error::IntegralValueOutOfRange(0, -1);
        assert!(matches!(kind(&error, "testing"), StoreError::Damaged { .. }));
        let error = rusqlite::Error::QueryReturnedNoRows;
        assert!(matches!(kind(&error, "testing"), StoreError::Failed { .. }));
    }
}
