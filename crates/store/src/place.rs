//! Where a store is, and what it is opened for.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a store is; shown without the password.
#[derive(Clone, PartialEq, Eq)]
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
            _ => Err(UnknownPlace(without_password(text))),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({self})")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(url) => f.write_str(&without_password(url)),
        }
    }
}

/// A URL as it may be shown: without the password before the host, and without parameters, where one may stand too.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        // Whatever it is, it may have a password in it.
        return url.split_once([':', '=', ' ']).map_or(url, |(word, _)| word).to_owned();
    };
    let without_parameters = |text: &str| text.split('?').next().unwrap_or_default().to_owned();
    // The last one: an unescaped @ in a password is a mistake, but no reason to show its end.
    match rest.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split([':', '?']).next().unwrap_or_default();
            format!("{scheme}://{user}@{}", without_parameters(host))
        }
        None => format!("{scheme}://{}", without_parameters(rest)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let table = [
            ("sqlite:/var/lib/trueup.db", "sqlite:/var/lib/trueup.db"),
            ("postgres://ann@db/trueup", "postgres://ann@db/trueup"),
            ("postgres://ann:hunter2@db:5432/trueup", "postgres://ann@db:5432/trueup"),
            ("postgres://ann:hun@ter2@db/trueup", "postgres://ann@db/trueup"),
            ("postgresql://db/trueup?user=ann&password=hunter2", "postgresql://db/trueup"),
            ("postgres://ann:hunter2@/trueup?host=db", "postgres://ann@/trueup"),
            ("postgres://ann:hun?ter2@db/trueup", "postgres://ann@db/trueup"),
            ("postgres:host=db password=hunter2", "postgres"),
        ];
        for (text, shown) in table {
            assert_eq!(text.parse::<Place>().unwrap().to_string(), shown);
        }
        let error = "host=db password=hunter2".parse::<Place>().unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
        assert!(
            !format!("{:?}", Place::Postgres("postgres://a:hunter2@db/t".to_owned())).contains("hunter2")
        );
        let error = "mysql://ann:hunter2@db/trueup".parse::<Place>().unwrap_err().to_string();
        assert!(error.contains("mysql://ann@db/trueup") && !error.contains("hunter2"), "{error}");
    }
}
