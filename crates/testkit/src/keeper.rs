//! The shell that runs a server until its standard input closes, which it does however this process ends.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Why a server does not run.
pub(crate) enum NotStarted {
    Io(io::Error),
    /// The end of what it logged.
    Log(String),
}

impl From<io::Error> for NotStarted {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[derive(Debug)]
pub(crate) struct Keeper(Child);

impl Keeper {
    /// Runs a script with a folder and settings, and waits until it says where the programs of the server are.
    pub(crate) fn start(dir: &Path, script: &str, settings: &str) -> Result<(Self, PathBuf), NotStarted> {
        let path = dir.join("keeper.sh");
        std::fs::write(&path, script)?;
        let mut child = Command::new("sh")
            .arg(&path)
            .arg(dir)
            .arg(settings)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // An interrupt from the terminal is for this process; the keeper has to outlive it.
            .process_group(0)
            .spawn()?;
        let mut ready = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut ready)?;
        }
        if let Some(bin) = ready.trim_end().strip_prefix("ready ") {
            return Ok((Self(child), bin.into()));
        }
        child.wait()?;
        let log = std::fs::read_to_string(dir.join("log"));
        Err(NotStarted::Log(log.unwrap_or_else(|error| format!("no log: {error}"))))
    }

    /// Says a last word, and waits until the server has ended.
    pub(crate) fn stop(&mut self, word: &str) -> io::Result<()> {
        if let Some(mut input) = self.0.stdin.take() {
            input.write_all(word.as_bytes())?;
        }
        self.0.wait().map(drop)
    }
}
