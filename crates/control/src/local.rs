//! The engine that is part of trueup: workers that take what was handed off from the store.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use trueup_events::outcome::RunError;
use trueup_lifecycle::State;
use trueup_store::Record;

use crate::engine::{Answer, Engine, EngineError, Kept};

/// Workers in this process or in others; what it keeps of a run are the files under its folder.
#[derive(Debug, Clone)]
pub struct Local {
    runs_dir: PathBuf,
}

impl Local {
    /// An engine whose runs leave their files in folders of their own under this one.
    pub fn new(runs_dir: PathBuf) -> Self {
        Self { runs_dir }
    }

    /// Where a run leaves its files.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.runs_dir.join(name)
    }
}

impl Engine for Local {
    /// The store's clock has judged the lease, so there is nothing to be unsure of.
    fn misses_until_lost(&self) -> u32 {
        1
    }

    fn reads_hand_offs(&self) -> bool {
        true
    }

    /// The hand-off is the submit: a worker finds the run as soon as that is committed.
    async fn submit(&self, _: &Record) -> Result<(), RunError> {
        Ok(())
    }

    async fn ask(&self, run: &Record) -> Answer {
        match run.run.state {
            State::Running(_) => Answer::NotFound,
            _ => Answer::Running,
        }
    }

    /// Workers look at the wish in the store.
    async fn cancel(&self, _: &Record) -> Result<(), EngineError> {
        Ok(())
    }

    async fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<Kept>, EngineError> {
        let (runs_dir, after) = (self.runs_dir.clone(), after.map(str::to_owned));
        blocking(move || list(&runs_dir, after.as_deref(), limit)).await
    }

    async fn delete(&self, name: &str) -> Result<(), EngineError> {
        let folder = self.folder(name);
        blocking(move || match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(&folder, &error)),
            _ => Ok(()),
        })
        .await
    }
}

fn list(runs_dir: &Path, after: Option<&str>, limit: usize) -> Result<Vec<Kept>, EngineError> {
    let folders = match std::fs::read_dir(runs_dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        found => found.map_err(|error| failed(runs_dir, &error))?,
    };
    let mut names: Vec<String> = Vec::new();
    for folder in folders {
        let folder = folder.map_err(|error| failed(runs_dir, &error))?;
        let name = folder.file_name().into_string();
        names.extend(name.into_iter().filter(|name| after.is_none_or(|after| name.as_str() > after)));
    }
    names.sort();
    names.truncate(limit);
    Ok(names.into_iter().map(|name| kept(runs_dir, name)).collect())
}

/// What is known of a folder.
fn kept(runs_dir: &Path, name: String) -> Kept {
    let age_ms = || {
        // One that cannot be looked at, or is of the future, has no age, and is as good as alive: it is left alone.
        let changed = std::fs::metadata(runs_dir.join(&name)).and_then(|folder| folder.modified()).ok()?;
        SystemTime::now().duration_since(changed).ok()?.as_millis().try_into().ok()
    };
    Kept { ended_ms_ago: age_ms(), name }
}

fn failed(path: &Path, error: &std::io::Error) -> EngineError {
    EngineError(format!("{}: {error}", path.display()))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, EngineError> + Send + 'static,
) -> Result<T, EngineError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| EngineError(error.to_string()))?
}
