//! Where a store is, and what it is opened for.

use std::path::PathBuf;
use std::str::FromStr;

/// Where a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A file.
    Sqlite(PathBuf),
    /// A database, by its URL.
    Postgres(String),
}

/// A text that names no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} names no store: write sqlite:PATH or postgres://USER@HOST/DATABASE")]
pub struct UnknownPlace(String);

impl FromStr for Place {
    type Err = UnknownPlace;

    fn from_str(text: &str) -> Result<Self, UnknownPlace> {
        match text.split_once(':') {
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite(path.into())),
            Some(("postgres" | "postgresql", _)) => Ok(Self::Postgres(text.to_owned())),
            _ => Err(UnknownPlace(text.to_owned())),
        }
    }
}

/// What a process opens a store for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// To move runs on for as long as it lives; only one process may on one SQLite file.
    Server,
    /// To look, or to ask for something, beside a server.
    Command,
    /// To look and no more: nothing is made, changed or brought up to date, and changes are not heard of.
    Reader,
}
