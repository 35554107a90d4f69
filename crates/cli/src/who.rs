//! Who calls `trueup`, and where.

use std::env;

/// The user, for the audit log.
pub(crate) fn user() -> String {
    let named = |name| env::var(name).ok().filter(|user| !user.is_empty());
    named("USER").or_else(|| named("LOGNAME")).unwrap_or_else(|| "somebody".to_owned())
}

/// The machine's name.
pub(crate) fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// A name that no other process has.
pub(crate) fn process() -> String {
    format!("{}-{}", host(), std::process::id())
}
