//! A throw-away MariaDB: its own folder, its own port, gone with the process that started it.

use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::keeper::{Keeper, NotStarted};

/// Why there is no server to test with.
#[derive(Debug, thiserror::Error)]
pub enum MariadbError {
    /// A program or file could not be used.
    #[error("starting MariaDB: {0}")]
    Io(#[from] std::io::Error),
    /// The server did not start; most often there is none.
    #[error(
        "MariaDB did not start: {log}\nhint: install the server (Debian: apt-get install mariadb-server-core mariadb-client-core), or run ./test, which does"
    )]
    NotStarted {
        /// The end of what it logged.
        log: String,
    },
    /// It refuses what it was told to run.
    #[error("{0}")]
    Refused(String),
}

impl From<NotStarted> for MariadbError {
    fn from(problem: NotStarted) -> Self {
        match problem {
            NotStarted::Io(error) => Self::Io(error),
            NotStarted::Log(log) => Self::NotStarted { log },
        }
    }
}

/// A running server, with a user `ann` who may do everything, and whose password is [`Mariadb::PASSWORD`].
#[derive(Debug)]
pub struct Mariadb {
    dir: PathBuf,
    bin: PathBuf,
    port: u16,
    databases: AtomicU32,
    keeper: Mutex<Keeper>,
}

impl Mariadb {
    /// What nobody may ever see.
    pub const PASSWORD: &str = "hunter2";

    /// The server that all tests of this process share.
    ///
    /// # Panics
    ///
    /// When it does not start: no test that asks for it can go on.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Mariadb> = OnceLock::new();
        SHARED.get_or_init(|| Self::start().unwrap_or_else(|error| panic!("{error}")))
    }

    /// Starts a server of one's own.
    pub fn start() -> Result<Self, MariadbError> {
        Self::start_with(|_| Ok("--skip-ssl".to_owned()))
    }

    /// Starts a server that encrypts.
    pub fn start_encrypted(certificate: &Path, key: &Path) -> Result<Self, MariadbError> {
        Self::start_with(|dir| {
            std::fs::copy(certificate, dir.join("server.crt"))?;
            std::fs::copy(key, dir.join("server.key"))?;
            std::fs::set_permissions(dir.join("server.key"), PermissionsExt::from_mode(0o600))?;
            Ok(format!("--ssl-cert={0}/server.crt --ssl-key={0}/server.key", dir.display()))
        })
    }

    fn start_with(prepare: impl FnOnce(&Path) -> std::io::Result<String>) -> Result<Self, MariadbError> {
        let dir = tempfile::Builder::new().prefix("trueup-my-").tempdir()?.keep();
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let settings = format!("--bind-address=127.0.0.1 --port={port} {}", prepare(&dir)?);
        let (keeper, bin) = Keeper::start(&dir, include_str!("mariadb.sh"), &settings)?;
        let server = Self { dir, bin, port, databases: AtomicU32::new(0), keeper: Mutex::new(keeper) };
        server.run("mysql", &format!("grant all on *.* to ann identified by '{}'", Self::PASSWORD))?;
        Ok(server)
    }

    /// The port of this machine that it listens at.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Makes a database, and gives its name.
    pub fn database(&self) -> Result<String, MariadbError> {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.run("mysql", &format!("create database {name}"))?;
        Ok(name)
    }

    /// The URL of a database, password included.
    pub fn url(&self, database: &str) -> String {
        format!("mysql://ann:{}@127.0.0.1:{}/{database}", Self::PASSWORD, self.port)
    }

    /// Runs statements in a database, and gives what they deliver, tabs between columns.
    pub fn run(&self, database: &str, sql: &str) -> Result<String, MariadbError> {
        let mut client = Command::new(self.bin.join("mariadb"))
            .args(["--no-defaults", "--user=root", "--default-character-set=utf8mb4", "--skip-column-names"])
            .arg(format!("--socket={}", self.dir.join("socket").display()))
            .arg(database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = client.stdin.take() {
            input.write_all(sql.as_bytes())?;
        }
        let ran = client.wait_with_output()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if ran.status.success() {
            Ok(text(&ran.stdout))
        } else {
            Err(MariadbError::Refused(text(&ran.stderr)))
        }
    }
}

impl Drop for Mariadb {
    fn drop(&mut self) {
        // Nobody is left to tell; the keeper cleans up as soon as its input is closed, which dropping it does as well.
        let _ended = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).stop("");
    }
}
