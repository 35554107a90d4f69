//! A `trueup` that a test has started, and ends.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use trueup_testkit::PATIENCE;

/// A running process, and what it says on standard error.
pub(crate) struct Process {
    child: Child,
    lines: Receiver<String>,
    heard: Vec<String>,
}

impl Process {
    pub(crate) fn start(arguments: &[String], fail_point: Option<&str>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.envs(fail_point.map(|point| ("TRUEUP_FAIL_POINT", point)));
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            // Ends with the process, or with the test.
            for line in stderr.lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines, heard: Vec::new() }
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
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends it a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
        if std::thread::panicking() {
            self.heard.extend(self.lines.try_iter());
            eprintln!("it said: {:#?}", self.heard);
        }
    }
}
