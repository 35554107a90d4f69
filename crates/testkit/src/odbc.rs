//! ODBC drivers of this machine, and how they are told where a server is.

use std::path::{Path, PathBuf};

/// Where a driver is, by the name of its file.
fn driver(name: &str) -> PathBuf {
    let folders = std::fs::read_dir("/usr/lib").expect("it is a folder").flatten();
    let mut places = folders.map(|folder| folder.path().join("odbc").join(name));
    places.find(|place| place.exists()).unwrap_or_else(|| panic!("no {name} below /usr/lib: run `./test`"))
}

/// A connection string for the database of PostgreSQL that a URL is of.
///
/// # Panics
/// When it is no URL of [`crate::Postgres`], or the driver is not installed, which `./test` does.
pub fn odbc_to_postgres(url: &str) -> String {
    let parts = url.trim_start_matches("postgres://").split_once('@').expect("it has a user");
    let (user, password) = parts.0.split_once(':').unwrap_or((parts.0, ""));
    let (server, database) = parts.1.split_once('/').expect("it has a database");
    let (host, port) = server.split_once(':').expect("it has a port");
    let host = host.replace("%2F", "/").replace("%25", "%");
    let driver = driver("psqlodbcw.so");
    format!(
        "Driver={};Servername={host};Port={port};Database={database};UID={user};PWD={{{password}}};BoolsAsChar=0",
        driver.display()
    )
}

/// A connection string for a file of SQLite.
///
/// # Panics
/// When the driver is not installed, which `./test` does.
pub fn odbc_to_sqlite(path: &Path) -> String {
    format!("Driver={};Database={}", driver("libsqlite3odbc.so").display(), path.display())
}
