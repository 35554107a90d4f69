//! What the name of an event says about its step.

use serde_json::Value;

use crate::event::Status;

/// Last words and what they say; every other one says that it is running.
const LAST_WORDS: [(Status, &[&str]); 3] = [
    (
        Status::Completed,
        &["completed", "done", "exit", "succeeded", "finished", "finalised", "committed", "closed"],
    ),
    (Status::Failed, &["failed", "failure", "error", "errored", "abandoned", "lettered"]),
    (Status::Cancelled, &["cancelled", "canceled", "revoked"]),
];

impl Status {
    /// Derives the status from the last word of a name, after its last `.` or `_`, in whatever case it is.
    pub fn of_name(name: &str) -> Self {
        let last = name.rsplit(['.', '_']).next().unwrap_or_default();
        let says = |words: &[&str]| words.iter().any(|word| last.eq_ignore_ascii_case(word));
        LAST_WORDS.iter().find(|(_, words)| says(words)).map_or(Self::Running, |(status, _)| *status)
    }
}

/// Reads a status that a producer gave, in whatever case it is.
pub(super) fn read(value: &Value) -> Result<Status, String> {
    let text = value.as_str().ok_or("must be text")?;
    text.to_ascii_uppercase().parse().map_err(|problem| format!("is unknown: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_decides() {
        let table = [
            ("step.exit", Status::Completed),
            ("call.done", Status::Completed),
            ("playbook_completed", Status::Completed),
            ("run.finalised", Status::Completed),
            ("transaction.committed", Status::Completed),
            ("window_closed", Status::Completed),
            ("COMMAND_SUCCEEDED", Status::Completed),
            ("done", Status::Completed),
            ("loop.finished", Status::Completed),
            ("step.failed", Status::Failed),
            ("total_failure", Status::Failed),
            ("step_error", Status::Failed),
            ("run.queue_errored", Status::Failed),
            ("lease.abandoned", Status::Failed),
            ("dead_lettered", Status::Failed),
            ("run.cancelled", Status::Cancelled),
            ("job.canceled", Status::Cancelled),
            ("command.revoked", Status::Cancelled),
            ("step.enter", Status::Running),
            ("run.started", Status::Running),
            ("command.issued", Status::Running),
            ("command.claimed", Status::Running),
            ("worker.heartbeat", Status::Running),
            ("abandoned.later", Status::Running),
            ("completed.", Status::Running),
            ("is-done", Status::Running),
            ("undone", Status::Running),
            ("", Status::Running),
        ];
        for (name, status) in table {
            assert_eq!(Status::of_name(name), status, "{name}");
        }
    }
}
