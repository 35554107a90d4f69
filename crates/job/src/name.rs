//! Names of jobs and queues, which appear in URLs, files and logs.

use crate::cursor::At;
use crate::node::shortened;

const LETTERS_MAX: usize = 100;

pub(crate) fn read(at: &At<'_>) -> Option<String> {
    let name = at.text()?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_name = name.len() <= LETTERS_MAX
        && name.chars().all(is_part)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !is_name {
        let hint =
            format!("expected at most {LETTERS_MAX} letters, digits, -, _ and ., such as daily-revenue");
        at.fault(format!("{} is no name", shortened(&name)), hint);
        return None;
    }
    Some(name)
}
