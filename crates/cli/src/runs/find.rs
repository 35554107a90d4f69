//! Finds the runs and jobs that people name.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use trueup_events::{JobId, TenantId};
use trueup_job::near_miss;
use trueup_store::{Record, RunFilter, Store, StoreError};
use uuid::Uuid;

use crate::failure::Failure;

/// How many digits an id has.
const DIGITS: usize = 32;
/// How many runs are named when more than one is meant.
const NAMED_MAX: u32 = 5;
/// How many runs are looked at for the jobs that there are.
const LOOKED_AT_MAX: u32 = 100;

/// The run whose id is, or starts with, what was given.
pub(crate) async fn find(store: &Store, tenant_id: TenantId, given: &str) -> Result<Record, Failure> {
    let ids = ids(given).ok_or_else(|| {
        let what = format!("{given:?} is no id of a run, nor the start of one");
        Failure::propose(what, "trueup runs list", "shows them")
    })?;
    let mut found = store.runs_between(tenant_id, ids, NAMED_MAX).await?;
    match found.len() {
        0 => {
            let what = format!("there is no run {given}");
            Err(Failure::propose(what, "trueup runs list", "shows those that there are"))
        }
        1 => Ok(found.remove(0)),
        _ => {
            let named: Vec<String> = found.iter().map(|record| format!("\n  {}", record.id())).collect();
            Err(Failure::usage_hint(
                format!("more than one run starts with {given}:{}", named.concat()),
                "write more of the id",
            ))
        }
    }
}

/// The ids that start so.
fn ids(given: &str) -> Option<RangeInclusive<Uuid>> {
    let digits: String = given.chars().filter(|digit| *digit != '-').collect();
    if digits.is_empty() || digits.len() > DIGITS || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    // What is all digits and no longer than that has a number.
    let filled = |with: char| {
        let missing = DIGITS - digits.len();
        let text = digits.chars().chain(std::iter::repeat_n(with, missing)).collect::<String>();
        u128::from_str_radix(&text, 16).map(Uuid::from_u128).ok()
    };
    Some(filled('0')?..=filled('f')?)
}

/// The job of that name.
pub(crate) async fn find_job(
    store: &Store,
    tenant_id: TenantId,
    name: &str,
) -> Result<trueup_store::Job, Failure> {
    match store.job(tenant_id, name).await? {
        Some(job) => Ok(job),
        None => Err(no_such_job(store, tenant_id, name).await?),
    }
}

/// Says which job may have been meant, as far as the latest runs tell.
async fn no_such_job(store: &Store, tenant_id: TenantId, name: &str) -> Result<Failure, StoreError> {
    let filter = RunFilter::of(tenant_id, LOOKED_AT_MAX);
    let mut names = JobNames::default();
    for record in store.runs(&filter).await? {
        names.of(store, &record).await?;
    }
    let mut known: Vec<&str> = names.0.values().map(String::as_str).collect();
    known.sort_unstable();
    let what = format!("there is no job named {name:?}");
    Ok(match near_miss(name, known.iter().copied()) {
        Some(near) => Failure::usage_hint(what, format!("did you mean {near}?")),
        None if known.is_empty() => Failure::propose(what, "trueup run JOB.YAML", "saves a job and runs it"),
        None => Failure::usage_hint(what, format!("the latest runs are of {}", known.join(", "))),
    })
}

/// What jobs are called, looked up once each.
#[derive(Debug, Default)]
pub(super) struct JobNames(HashMap<JobId, String>);

impl JobNames {
    /// The name of a run's job.
    pub(super) async fn of(&mut self, store: &Store, record: &Record) -> Result<String, StoreError> {
        let id = record.run.ids.job_id;
        if let Some(name) = self.0.get(&id) {
            return Ok(name.clone());
        }
        let job = store.revision(id, record.revision).await?;
        let name = job.map_or_else(|| id.to_string(), |job| job.document.name);
        self.0.insert(id, name.clone());
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::ids;

    #[test]
    fn starts_of_ids_are_ranges() {
        let table = [
            ("7", Some(("70000000-0000-0000-0000-000000000000", "7fffffff-ffff-ffff-ffff-ffffffffffff"))),
            (
                "019A-bc",
                Some(("019abc00-0000-0000-0000-000000000000", "019abcff-ffff-ffff-ffff-ffffffffffff")),
            ),
            (
                "3f0c1f5e-7d0b-4a55-9a6f-1f6f1a2b3c4d",
                Some(("3f0c1f5e-7d0b-4a55-9a6f-1f6f1a2b3c4d", "3f0c1f5e-7d0b-4a55-9a6f-1f6f1a2b3c4d")),
            ),
            ("", None),
            ("-", None),
            ("7g", None),
            ("é", None),
            ("3f0c1f5e7d0b4a559a6f1f6f1a2b3c4d0", None),
        ];
        for (given, expected) in table {
            let found = ids(given).map(|ids| (ids.start().to_string(), ids.end().to_string()));
            let expected = expected.map(|(first, last)| (first.to_owned(), last.to_owned()));
            assert_eq!(found, expected, "{given}");
        }
    }
}
