//! Names of jobs and queues, which appear in URLs, files and logs.

use crate::cursor::At;
use crate::node::shortened;

const LETTERS_MAX: usize = 100;

/// A text that can be the name of no job and no queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected at most {LETTERS_MAX} letters, digits, -, _ and ., such as daily-revenue")]
pub struct NotName;

/// Reads the name of a job or a queue.
pub fn parse_name(text: &str) -> Result<String, NotName> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_name = text.len() <= LETTERS_MAX
        && text.chars().all(is_part)
        && text.starts_with(|c: char| c.is_ascii_alphanumeric());
    if is_name { Ok(text.to_owned()) } else { Err(NotName) }
}

pub(crate) fn read(at: &At<'_>) -> Option<String> {
    let text = at.text()?;
    parse_name(&text)
        .map_err(|error| at.fault(format!("{} is no name", shortened(&text)), error.to_string()))
        .ok()
}
