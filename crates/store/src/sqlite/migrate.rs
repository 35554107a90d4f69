//! Brings the schema of a file up to date.

use rusqlite::{Connection, TransactionBehavior};

use super::error::kind;
use crate::error::StoreError;

/// The steps from an empty file to the present schema; `user_version` counts those that were made.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/sqlite/0001_first.sql"),
    include_str!("../../migrations/sqlite/0002_start_run.sql"),
    include_str!("../../migrations/sqlite/0003_sweeps.sql"),
    include_str!("../../migrations/sqlite/0004_shapes.sql"),
    include_str!("../../migrations/sqlite/0005_tasks.sql"),
    include_str!("../../migrations/sqlite/0006_stops.sql"),
    include_str!("../../migrations/sqlite/0007_access.sql"),
    include_str!("../../migrations/sqlite/0008_observed.sql"),
];
/// The schema that this version knows.
pub(crate) const KNOWN: i64 = MIGRATIONS.len().cast_signed() as i64;

/// Makes the steps that are missing, each in a transaction; of two processes that do so at once, one waits for the other.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let error = |error| kind(&error, "bringing the schema up to date");
    loop {
        let found = version(connection).map_err(error)?;
        if found >= KNOWN {
            return refuse_newer(found);
        }
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(error)?;
        let step = version(&tx).map_err(error)?;
        // Another process may have made the step while this one waited for its turn.
        if let Some(migration) = usize::try_from(step).ok().and_then(|step| MIGRATIONS.get(step)) {
            tx.execute_batch(migration).map_err(error)?;
            tx.pragma_update(None, "user_version", step + 1).map_err(error)?;
        }
        tx.commit().map_err(error)?;
    }
}

/// Refuses a schema that a later version made.
pub(crate) fn refuse_newer(found: i64) -> Result<(), StoreError> {
    if found > KNOWN { Err(StoreError::Newer { found, known: KNOWN }) } else { Ok(()) }
}

/// Refuses a schema that is not this version's, where it is not to be changed.
pub(crate) fn refuse_other(connection: &Connection) -> Result<(), StoreError> {
    match version(connection).map_err(|error| kind(&error, "opening the store"))? {
        0 => {
            Err(StoreError::NoStore { problem: "the file is that of a store that was never made".to_owned() })
        }
        found if found < KNOWN => Err(StoreError::Older { found, known: KNOWN }),
        found => refuse_newer(found),
    }
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_only_expand() {
        for migration in MIGRATIONS {
            let code = migration.lines().filter(|line| !line.trim_start().starts_with("--"));
            // What is checked may be loosened: the check goes, and comes back as one that lets more through.
            let is_made_again = |line: &str| {
                let name = ["drop index ", "drop trigger "].iter().find_map(|drop| line.strip_prefix(drop));
                name.is_some_and(|name| {
                    let name = name.trim_end_matches(';');
                    ["unique index", "trigger"]
                        .iter()
                        .any(|kind| migration.contains(&format!("create {kind} {name} ")))
                })
            };
            for line in code.map(str::to_lowercase).filter(|line| !is_made_again(line)) {
                let narrows = ["drop ", "rename ", "alter column", "delete from", "truncate "];
                assert!(!narrows.iter().any(|word| line.contains(word)), "{line}");
            }
        }
    }

    #[test]
    fn a_newer_schema_is_refused() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "user_version", KNOWN + 1).unwrap();
        let refused = migrate(&mut connection).unwrap_err();
        assert!(matches!(refused, StoreError::Newer { found, known } if found == known + 1), "{refused}");
    }

    #[test]
    fn the_library_is_new_enough() {
        // Older ones can corrupt a database that has a log of writes.
        assert!(rusqlite::version_number() >= 3_051_003, "{}", rusqlite::version());
    }
}
