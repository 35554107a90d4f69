//! A folder with sources, where jobs are carried out.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use trueup_compare::{Limits, Progress};
use trueup_events::Payload;
use trueup_job::{Job, Moment, Reference};
use trueup_reconcile::{Carried, Stopped, Work, carry_out};

/// Longer than any test.
const NEVER: Duration = Duration::from_hours(1);

/// 2026-01-15T12:00:00Z.
const REQUESTED_AT_MS: i64 = 1_768_478_400_000;

/// The folder, gone with the test.
pub(crate) struct Scene {
    folder: TempDir,
    pub tick: Duration,
    memory: u64,
    threads: usize,
    /// What `${env:…}` stands for.
    pub variables: BTreeMap<&'static str, String>,
}

impl Scene {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["run", "tmp"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        Self { folder, tick: NEVER, memory: 64 << 20, threads: 2, variables: BTreeMap::new() }
    }

    /// The same with other limits.
    pub(crate) fn within(self, memory: u64, threads: usize) -> Self {
        Self { memory, threads, ..self }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The job as it stands in this folder.
    pub(crate) fn job(&self, text: &str) -> Job {
        let job = Job::parse(text.as_bytes(), None).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
        job.anchored_at(self.folder.path()).unwrap()
    }

    /// Carries a job out with some parameters, and says what was told.
    pub(crate) fn carry_out(
        &self,
        job: &str,
        params: &[(&str, &str)],
    ) -> (Vec<Payload>, Result<Carried, Stopped>) {
        let mut told = Vec::new();
        let outcome = self.watch(job, params, &mut |payload, _| told.push(payload));
        (told, outcome)
    }

    pub(crate) fn watch(
        &self,
        job: &str,
        params: &[(&str, &str)],
        tell: &mut dyn FnMut(Payload, &Progress),
    ) -> Result<Carried, Stopped> {
        let job = self.job(job);
        let given: BTreeMap<String, Value> =
            params.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
        let moment = Moment::at_ms(REQUESTED_AT_MS, job.timezone()).unwrap();
        let arguments = job.arguments(&given, moment).unwrap();
        let limits = Limits { memory: self.memory, threads: self.threads, temp_dir: self.path("tmp") };
        let progress = Progress::new(job.sources.len());
        let work = Work {
            job: &job,
            arguments: &arguments,
            look_up: &|reference| match reference {
                Reference::Env(name) => {
                    let value = self.variables.get(name.as_str()).cloned();
                    value.ok_or_else(|| format!("{reference}: not set"))
                }
                Reference::File(path) => fs::read_to_string(path).map_err(|error| error.to_string()),
            },
            limits: &limits,
            breaks_dir: &self.path("run"),
            breaks_kept: 1_000,
            tick: self.tick,
        };
        carry_out(&work, &progress, &mut |payload| tell(payload, &progress))
    }

    /// What is in one of its folders, sorted.
    pub(crate) fn names_in(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Each event and its payload, a line each, without the name of the folder.
    pub(crate) fn shown(&self, told: &[Payload]) -> String {
        let line = |payload: &Payload| {
            format!("{} {}\n", payload.event_type(), serde_json::to_string(payload).unwrap())
        };
        told.iter().map(line).collect::<String>().replace(&shown(self.folder.path()), "…")
    }

    /// Why a job has no verdict, without the name of the folder.
    pub(crate) fn reason(&self, outcome: Result<Carried, Stopped>) -> String {
        outcome.expect_err("it has a verdict").to_string().replace(&shown(self.folder.path()), "…")
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
