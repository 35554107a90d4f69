//! A process that a test has started, and that ends with the test, however that ends.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use trueup_testkit::PATIENCE;

/// A running process, and what it says on standard error.
pub(crate) struct Process {
    /// The shell that runs it.
    keeper: Child,
    id: String,
    lines: Receiver<String>,
    heard: Vec<String>,
}

impl Process {
    /// Starts a `trueup`, to be held at a point if it gets there.
    pub(crate) fn start(arguments: &[String], fail_point: Option<&str>) -> Self {
        let point = fail_point.map(|point| ("TRUEUP_FAIL_POINT", point));
        Self::start_program(Path::new(env!("CARGO_BIN_EXE_trueup")), arguments, point)
    }

    pub(crate) fn start_program<'a>(
        program: &Path,
        arguments: &[String],
        environment: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut keeper = Command::new("sh")
            .args(["-c", include_str!("process.sh"), "keeper"])
            .arg(program)
            .args(arguments)
            .envs(environment)
            // Tests serve side by side.
            .env("TRUEUP_LISTEN", "127.0.0.1:0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // An interrupt from the terminal is for the test; the keeper has to outlive it.
            .process_group(0)
            .spawn()
            .unwrap();
        let mut id = String::new();
        BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut id).unwrap();
        let stderr = BufReader::new(keeper.stderr.take().unwrap());
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            // Ends with the process, or with the test.
            for line in stderr.lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    break;
                }
            }
        });
        Self { keeper, id: id.trim_end().to_owned(), lines, heard: Vec::new() }
    }

    /// Waits until it is held at a fail point.
    pub(crate) fn is_held_at(&mut self, point: &str) {
        let (point, _times) = point.split_once('#').unwrap_or((point, ""));
        self.says(&format!("fail point {point}"));
    }

    /// Waits until it says something with this in it.
    pub(crate) fn says(&mut self, part: &str) {
        assert!(self.says_within(part, PATIENCE), "it never said {part:?}: {:#?}", self.heard);
    }

    /// Whether it says something with this in it within some time.
    pub(crate) fn says_within(&mut self, part: &str, time: Duration) -> bool {
        let until = Instant::now() + time;
        while !self.heard.iter().any(|line| line.contains(part)) {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => self.heard.push(line),
                Err(_) => return false,
            }
        }
        true
    }

    /// Ends it as the kernel would: at once, whatever it was doing.
    pub(crate) fn kill(self) {
        drop(self);
    }

    /// Sends it a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.id]).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The end of its input tells the keeper, which ends when the process has.
        drop(self.keeper.stdin.take());
        // There is nobody to tell.
        drop(self.keeper.wait());
        if std::thread::panicking() {
            self.heard.extend(self.lines.try_iter());
            eprintln!("it said: {:#?}", self.heard);
        }
    }
}
