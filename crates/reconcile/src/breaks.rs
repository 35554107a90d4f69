//! Where the breaks of a stage are, and how they are read back.

use std::path::{Path, PathBuf};

pub use trueup_compare::{StoredBreaks, StoredBreaksError};

/// What file systems take for a name, with room for an extension.
const NAME_MAX: usize = 200;

/// A stage whose name is too long for a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the name of a stage becomes that of a file, and {name:?} is too long for one")]
pub struct NameTooLong {
    name: String,
}

/// The file in a folder that has the breaks of a stage; what a file's name cannot have is written as `%2F`.
pub fn file(folder: &Path, stage: &str) -> Result<PathBuf, NameTooLong> {
    let is_plain = |at: usize, c: char| c.is_alphanumeric() || "-_ ".contains(c) || (c == '.' && at > 0);
    let mut name = String::new();
    for (at, c) in stage.char_indices() {
        if is_plain(at, c) {
            name.push(c);
        } else {
            name.extend(c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("%{byte:02X}")));
        }
    }
    if name.len() > NAME_MAX {
        return Err(NameTooLong { name: stage.chars().take(60).collect() });
    }
    Ok(folder.join(name + ".parquet"))
}
