//! Jobs whose relative paths mean the same from everywhere.

use std::path::Path;

use crate::connection::{Connection, ConnectionKind};
use crate::job::Job;
use crate::source::Rows;

/// A folder that relative paths cannot stand under.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnchorError {
    /// It would mean something else in another place.
    #[error("{folder:?} is no absolute path")]
    NotAbsolute {
        /// The folder.
        folder: String,
    },
    /// With its name in the paths, the job is no longer one.
    #[error("the relative paths of a job cannot stand under {folder:?}: {problem}")]
    Unfit {
        /// The folder.
        folder: String,
        /// What is wrong with its name.
        problem: String,
    },
}

impl Job {
    /// The same job, its relative paths under an absolute folder, so that it means the same from any working directory.
    pub fn anchored_at(&self, folder: &Path) -> Result<Self, AnchorError> {
        let shown = folder.display().to_string();
        if !folder.is_absolute() {
            return Err(AnchorError::NotAbsolute { folder: shown });
        }
        let unfit = |problem: &dyn ToString| AnchorError::Unfit {
            folder: shown.clone(),
            problem: problem.to_string(),
        };
        let Some(text) = folder.to_str() else {
            return Err(unfit(&"its name is no UTF-8"));
        };
        let mut job = self.clone();
        for source in &mut job.sources {
            // A path of a connection is relative to that, and a server's connection says itself where it is.
            if let Rows::Files { connection: None, path, .. } = &mut source.rows {
                *path = path.under(text);
            }
        }
        job.connections.values_mut().for_each(|connection| anchor(connection, text));
        // Names of folders can hold what means something in a job, such as braces.
        match Self::parse(job.document().to_string().as_bytes(), None) {
            Ok(read) if read == job => Ok(job),
            Ok(_) => Err(unfit(&"its name would be read as a template or a reference")),
            Err(faults) => Err(unfit(&faults)),
        }
    }
}

fn anchor(connection: &mut Connection, folder: &str) {
    if !matches!(connection.kind, ConnectionKind::File | ConnectionKind::Sqlite) {
        return;
    }
    if let Some(path) = connection.settings.get_mut("path") {
        *path = path.under(folder.trim_end_matches('/'));
    }
}
