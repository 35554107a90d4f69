//! A throw-away PostgreSQL: its own folder, its own socket, gone with the process that started it.

use std::io::BufRead as _;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::keeper::{Keeper, NotStarted};

/// Why there is no server to test with.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// A program or file could not be used.
    #[error("starting PostgreSQL: {0}")]
    Io(#[from] std::io::Error),
    /// The server did not start; most often there is none.
    #[error(
        "PostgreSQL did not start: {log}\nhint: install the server (Debian: apt-get install postgresql), or run ./test, which does"
    )]
    NotStarted {
        /// The end of what it logged.
        log: String,
    },
    /// A statement failed.
    #[error("executing SQL: {0}")]
    NotExecuted(String),
    /// A database could not be made.
    #[error("making a database: {0}")]
    NoDatabase(String),
    /// Those who had reached it could not be cut off.
    #[error("cutting connections: {0}")]
    NotHidden(String),
}

const SCRIPT: &str = include_str!("postgres.sh");

/// The port whose socket nobody knows of.
const HIDDEN_PORT: u16 = 1;

/// A running server.
#[derive(Debug)]
pub struct Postgres {
    dir: PathBuf,
    bin: PathBuf,
    settings: String,
    port: u16,
    databases: AtomicU32,
    keeper: Mutex<Keeper>,
}

impl From<NotStarted> for PostgresError {
    fn from(problem: NotStarted) -> Self {
        match problem {
            NotStarted::Io(error) => Self::Io(error),
            NotStarted::Log(log) => Self::NotStarted { log },
        }
    }
}

impl Postgres {
    /// The server that all tests of this process share.
    ///
    /// # Panics
    ///
    /// When it does not start: no test that asks for it can go on.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Postgres> = OnceLock::new();
        SHARED.get_or_init(|| Self::start().unwrap_or_else(|error| panic!("{error}")))
    }

    /// Starts a server of one's own, to be stopped and started at will.
    pub fn start() -> Result<Self, PostgresError> {
        // Tests survive no power cut, so the disk need not be waited for; commits are as synchronous as elsewhere.
        Self::start_with(|_| Ok(("-c fsync=off".to_owned(), 5432)))
    }

    /// Keeps a server to be measured until standard input ends: each line asks for a fresh database, whose URL is printed.
    pub fn keep_for_lines() -> Result<(), PostgresError> {
        let postgres = Self::start_durable()?;
        for line in std::io::stdin().lock().lines() {
            line?;
            println!("{}", postgres.database()?);
        }
        Ok(())
    }

    /// Starts a server whose commits are on the disk, to be measured.
    pub fn start_durable() -> Result<Self, PostgresError> {
        Self::start_with(|_| Ok((String::new(), 5432)))
    }

    /// Starts a server that can also be reached at a port of this machine, and encrypts what goes there.
    pub fn start_encrypted(certificate: &Path, key: &Path) -> Result<Self, PostgresError> {
        Self::start_with(|dir| {
            std::fs::copy(certificate, dir.join("server.crt"))?;
            std::fs::copy(key, dir.join("server.key"))?;
            // The server refuses a key that others may read.
            std::fs::set_permissions(dir.join("server.key"), PermissionsExt::from_mode(0o600))?;
            let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
            let files =
                format!("-c ssl_cert_file={0}/server.crt -c ssl_key_file={0}/server.key", dir.display());
            let settings =
                format!("-c fsync=off -c listen_addresses=127.0.0.1 -c port={port} -c ssl=on {files}");
            Ok((settings, port))
        })
    }

    /// Starts a server that lets in `ann` with the password `hunter2`, and the superuser without.
    pub fn start_guarded() -> Result<Self, PostgresError> {
        let server = Self::start_with(|dir| {
            let hba = dir.join("hba.conf");
            std::fs::write(&hba, "local all postgres trust\nlocal all all scram-sha-256\n")?;
            Ok((format!("-c fsync=off -c hba_file={}", hba.display()), 5432))
        })?;
        let url = server.url("postgres", "postgres");
        server.execute(&url, "create role ann login password 'hunter2'")?;
        Ok(server)
    }

    fn start_with(
        prepare: impl FnOnce(&Path) -> std::io::Result<(String, u16)>,
    ) -> Result<Self, PostgresError> {
        let dir = tempfile::Builder::new().prefix("trueup-pg-").tempdir()?.keep();
        let (settings, port) = prepare(&dir)?;
        let (keeper, bin) = Keeper::start(&dir, SCRIPT, &settings)?;
        Ok(Self { dir, bin, settings, port, databases: AtomicU32::new(0), keeper: Mutex::new(keeper) })
    }

    /// The port of this machine that an encrypted server listens at.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Makes a database, and gives its URL for the superuser.
    pub fn database(&self) -> Result<String, PostgresError> {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let made = Command::new(self.bin.join("createdb"))
            .args(["--username=postgres", "--host"])
            .arg(&self.dir)
            .args(["--port", &self.port.to_string(), &name])
            .output()?;
        if !made.status.success() {
            return Err(PostgresError::NoDatabase(String::from_utf8_lossy(&made.stderr).into_owned()));
        }
        Ok(self.url("postgres", &name))
    }

    /// Executes statements in a database, given by its URL.
    pub fn execute(&self, url: &str, sql: &str) -> Result<(), PostgresError> {
        let done = Command::new(self.bin.join("psql"))
            .args(["--quiet", "--set=ON_ERROR_STOP=1", "--dbname", url, "--command", sql])
            .output()?;
        if !done.status.success() {
            return Err(PostgresError::NotExecuted(String::from_utf8_lossy(&done.stderr).into_owned()));
        }
        Ok(())
    }

    /// The URL of a database for a user; the server asks for no password.
    pub fn url(&self, user: &str, database: &str) -> String {
        let host = self.dir.to_string_lossy().replace('%', "%25").replace('/', "%2F");
        format!("postgres://{user}@{host}:{}/{database}", self.port)
    }

    /// Stops the server; what it holds is kept.
    pub fn stop(&self) -> Result<(), PostgresError> {
        Ok(self.keeper().stop("keep\n")?)
    }

    /// Stops the server in the middle of all it does, as a crash would; it recovers when it is started again.
    pub fn crash(&self) -> Result<(), PostgresError> {
        Ok(self.keeper().stop("crash\n")?)
    }

    /// Lets nobody reach the server, and cuts off who has, at once and until [`Self::show`].
    pub fn hide(&self) -> Result<(), PostgresError> {
        std::fs::rename(self.socket(self.port), self.socket(HIDDEN_PORT))?;
        let cut = "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'";
        let done = Command::new(self.bin.join("psql"))
            .args(["--username=postgres", "--dbname=postgres", "--quiet", "--host"])
            .arg(&self.dir)
            .args(["--port", &HIDDEN_PORT.to_string(), "--command", cut])
            .output()?;
        if !done.status.success() {
            return Err(PostgresError::NotHidden(String::from_utf8_lossy(&done.stderr).into_owned()));
        }
        Ok(())
    }

    /// Lets the server be reached again.
    pub fn show(&self) -> Result<(), PostgresError> {
        Ok(std::fs::rename(self.socket(HIDDEN_PORT), self.socket(self.port))?)
    }

    /// The socket that it listens at.
    pub fn listening_at(&self) -> PathBuf {
        self.socket(self.port)
    }

    fn socket(&self, port: u16) -> PathBuf {
        self.dir.join(format!(".s.PGSQL.{port}"))
    }

    /// Starts the server again after it was stopped.
    pub fn start_again(&self) -> Result<(), PostgresError> {
        *self.keeper() = Keeper::start(&self.dir, SCRIPT, &self.settings)?.0;
        Ok(())
    }

    fn keeper(&self) -> MutexGuard<'_, Keeper> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Nobody is left to tell; the keeper cleans up as soon as its input is closed, which dropping it does as well.
        let _ended = self.keeper().stop("");
    }
}
