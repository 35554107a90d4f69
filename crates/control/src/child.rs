//! Attempts in processes of their own: one that crashes or runs out of memory takes nothing else with it.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use trueup_events::RunId;
use trueup_events::attempt::{Assignment, Line};
use trueup_events::outcome::Outcome;
use trueup_lifecycle::Fact;

use crate::perform::{Perform, Performed, Told};

/// How long a process may take to end by itself after it was told to.
const GOODBYE: Duration = Duration::from_millis(900);
/// How much of what a process says to people is kept.
const LAST_WORDS_MAX: usize = 2_000;

/// Runs each attempt in a child process of this one.
#[derive(Debug, Clone)]
pub struct Child {
    /// The program, which understands `attempt`.
    pub program: PathBuf,
}

impl Perform for Child {
    async fn perform(
        &self,
        assignment: Assignment,
        tell: mpsc::Sender<Told>,
        stop: CancellationToken,
    ) -> Performed {
        let kills_before = kernel_kills();
        let mut child = match self.start() {
            Ok(child) => child,
            Err(error) => return died(format!("{} could not be started: {error}", self.program.display())),
        };
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return died("the child has no pipes".to_owned());
        };
        let run_id = assignment.ids.run_id;
        let mut order =
            serde_json::to_vec(&assignment).unwrap_or_else(|error| unreachable!("it is JSON: {error}"));
        order.push(b'\n');
        // Beside all else, since a child need not listen; its input stays open until it is to stop.
        let mut ordering = Box::pin(async move {
            if let Err(error) = stdin.write_all(&order).await {
                tracing::debug!(%error, "the child did not listen");
            }
            std::future::pending::<()>().await;
            drop(stdin);
        });
        let mut heard =
            std::pin::pin!(async { tokio::join!(listen(stdout, run_id, tell), last_words(stderr)) });
        let (outcome, last_words) = tokio::select! {
            heard = &mut heard => heard,
            () = &mut ordering => unreachable!("an input that is open stays so"),
            () = stop.cancelled() => {
                // The end of its input tells the child to stop; it may have come to its end before.
                drop(ordering);
                if let Ok(heard) = timeout(GOODBYE, &mut heard).await {
                    heard
                } else {
                    if let Err(error) = child.start_kill() {
                        tracing::warn!(%error, "the child could not be killed");
                    }
                    heard.await
                }
            }
        };
        match (outcome, child.wait().await) {
            (Some(outcome), Ok(status)) if status.success() => Performed::Ended(outcome),
            _ if stop.is_cancelled() => Performed::Stopped,
            (_, Ok(status)) => {
                Performed::Died { facts: facts(status, kills_before, &last_words), last_words }
            }
            (_, Err(error)) => died(format!("the child could not be waited for: {error}")),
        }
    }
}

impl Child {
    fn start(&self) -> std::io::Result<tokio::process::Child> {
        Command::new(&self.program)
            .arg("attempt")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Away from the terminal's group, so that Ctrl-C reaches the worker alone, which decides.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
    }
}

/// Takes what the child tells, and how it says that it ended.
async fn listen(stdout: ChildStdout, run_id: RunId, tell: mpsc::Sender<Told>) -> Option<Outcome> {
    let mut lines = BufReader::new(stdout).lines();
    let mut outcome = None;
    loop {
        match lines.next_line().await {
            Ok(Some(line)) => match serde_json::from_str(&line) {
                Ok(Line::Told { time, payload }) => {
                    // Nobody listens any more when the attempt is given up.
                    drop(tell.send(Told { time, payload }).await);
                }
                Ok(Line::Ended(end)) => outcome = Some(end),
                Err(error) => tracing::warn!(%run_id, %error, line, "the child said what nobody understands"),
            },
            Ok(None) => return outcome,
            Err(error) => {
                tracing::warn!(%run_id, %error, "the child cannot be heard");
                return outcome;
            }
        }
    }
}

/// The end of what the child says to people.
async fn last_words(mut stderr: ChildStderr) -> String {
    let mut words: Vec<u8> = Vec::new();
    let mut buffer = [0; 4096];
    // What cannot be read is not said.
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        words.extend_from_slice(&buffer[..count]);
        let excess = words.len().saturating_sub(LAST_WORDS_MAX);
        words.drain(..excess);
    }
    String::from_utf8_lossy(&words).trim().to_owned()
}

fn died(problem: String) -> Performed {
    Performed::Died { facts: vec![Fact::Unseen(problem)], last_words: String::new() }
}

/// What can be seen of a process that ended without saying how the attempt did.
fn facts(status: ExitStatus, kills_before: Option<u64>, last_words: &str) -> Vec<Fact> {
    let mut facts = Vec::new();
    // The kernel kills who takes the last memory; Rust's allocator says it was refused some, and aborts.
    let was_picked = status.signal() == Some(9) && kernel_kills() > kills_before;
    if was_picked || last_words.contains("memory allocation of") {
        facts.push(Fact::OutOfMemory);
    }
    facts.extend(status.signal().map(Fact::Signalled));
    facts.extend(status.code().map(Fact::Exited));
    facts
}

/// How many processes the kernel has killed for their memory, where it says.
fn kernel_kills() -> Option<u64> {
    let counters = std::fs::read_to_string("/proc/vmstat").ok()?;
    counters.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use tempfile::TempDir;
    use trueup_events::{Ids, JobId, TenantId};
    use uuid::Uuid;

    use super::*;

    /// A child that runs a script, and the folder that it is in.
    fn child(script: &str) -> (Child, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o700)).unwrap();
        (Child { program }, folder)
    }

    /// An order that no pipe holds.
    fn assignment() -> Assignment {
        let ids = Ids {
            run_id: Uuid::now_v7().into(),
            job_id: JobId(Uuid::now_v7()),
            tenant_id: TenantId(Uuid::now_v7()),
        };
        Assignment {
            ids,
            job: serde_json::Value::Null,
            params: "x".repeat(1 << 20),
            requested_at_ms: 0,
            breaks_dir: PathBuf::new(),
            memory_bytes: None,
            threads: None,
        }
    }

    #[tokio::test]
    async fn a_child_that_does_not_listen_can_be_stopped() {
        let (child, _folder) = child("exec sleep 600");
        let stop = CancellationToken::new();
        stop.cancel();
        let performed =
            timeout(Duration::from_mins(1), child.perform(assignment(), mpsc::channel(1).0, stop));
        assert_eq!(performed.await.expect("it is stopped"), Performed::Stopped);
    }

    #[tokio::test]
    async fn what_could_not_be_started_says_why() {
        let child = Child { program: "/nowhere/at/all".into() };
        let stop = CancellationToken::new();
        let performed = child.perform(assignment(), mpsc::channel(1).0, stop).await;
        let Performed::Died { facts, .. } = performed else { panic!("{performed:?}") };
        let error = trueup_lifecycle::classify(&facts);
        assert_eq!(error.code().to_string(), "CRASHED");
        assert!(error.message().contains(": /nowhere/at/all could not be started: "), "{error}");
    }
}
