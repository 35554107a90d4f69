//! `trueup runs retry`: asks again for what earlier runs were asked for.
//!
//! A retry is a new run of the same job, as the job is now, with the arguments that the earlier run had: a default such as
//! `{{ today - 1d }}` keeps the value that it had then.

use std::collections::{BTreeMap, HashMap};
use std::process::ExitCode;

use serde_json::Value;
use trueup_events::payload::Mode;
use trueup_events::{JobId, RunId, TenantId};
use trueup_job::{Job, Moment};
use trueup_lifecycle::Status;
use trueup_store::{NewRun, Record, RunFilter, Store, StoreError};
use uuid::Uuid;

use super::find::{find, find_job};
use crate::arguments::Retry;
use crate::failure::Failure;
use crate::{output, place, who};

/// How many runs are read at a time.
const PAGE: u32 = 500;

/// The arguments of a run, as JSON.
type Arguments = BTreeMap<String, Value>;

/// Retries what was asked for, and prints for each which run takes its place.
pub(super) fn retry(options: &Retry) -> Result<ExitCode, Failure> {
    let (retried, refused) = place::visit(&options.places, async |store, tenant_id| {
        let mut again = Again { store, tenant_id, jobs: HashMap::new() };
        let records = if options.status.is_empty() {
            named(store, tenant_id, &options.runs).await?
        } else {
            again.left(&options.status, options.job.as_deref()).await?
        };
        // What cannot be asked for again is found before anything is.
        let mut wishes = Vec::with_capacity(records.len());
        for record in &records {
            wishes.push((record.id(), again.wish(record).await?));
        }
        let mut retried = Vec::with_capacity(wishes.len());
        let mut wishes = wishes.into_iter();
        while let Some((old, wish)) = wishes.next() {
            match store.trigger(wish).await {
                Ok(new) => retried.push((old, new)),
                Err(error) => {
                    let left: Vec<RunId> = [old].into_iter().chain(wishes.map(|(old, _)| old)).collect();
                    return Ok((retried, Some((left, error))));
                }
            }
        }
        Ok((retried, None))
    })?;
    // What was started is told whatever became of the rest: who does not know of it would start it again.
    let lines = retried.iter().map(|(old, new): &(RunId, RunId)| format!("{old} is retried as {new}\n"));
    let said = output::say(&lines.collect::<String>())?;
    if let Some((left, error)) = refused {
        let left: Vec<String> = left.iter().map(ToString::to_string).collect();
        eprintln!("not retried: {}", left.join(" "));
        return Err(error.into());
    }
    if retried.is_empty() {
        eprintln!("there is nothing to retry");
    }
    Ok(said)
}

async fn named(store: &Store, tenant_id: TenantId, runs: &[String]) -> Result<Vec<Record>, Failure> {
    let mut records: Vec<Record> = Vec::with_capacity(runs.len());
    for given in runs {
        let record = find(store, tenant_id, given).await?;
        let status = record.run.state.status();
        if !status.is_terminal() {
            let what = format!("the run {} has not ended: it is {status}", record.id());
            return Err(Failure::usage_hint(what, "wait for its end, or cancel it first"));
        }
        // Named twice is meant once.
        if !records.iter().any(|known| known.id() == record.id()) {
            records.push(record);
        }
    }
    Ok(records)
}

/// Asks for runs again.
struct Again<'a> {
    store: &'a Store,
    tenant_id: TenantId,
    /// The jobs as they are now.
    jobs: HashMap<JobId, Job>,
}

impl Again<'_> {
    /// Runs that ended so and whose job was not run with the same arguments since, the first to be asked for first.
    async fn left(&mut self, statuses: &[Status], job: Option<&str>) -> Result<Vec<Record>, Failure> {
        for status in statuses {
            let problem = match status {
                Status::Completed => "such a run has a result",
                status if !status.is_terminal() => "such a run has not ended",
                _ => continue,
            };
            let hint = "write failed, timeout, cancelled or abandoned, or name the runs";
            return Err(Failure::usage_hint(format!("--status {status}: {problem}"), hint));
        }
        let job_id = match job {
            Some(name) => Some(find_job(self.store, self.tenant_id, name).await?.id),
            None => None,
        };
        let ended = self.all(statuses.to_vec(), job_id, None).await?;
        let mut jobs: Vec<JobId> = ended.iter().map(|record| record.run.ids.job_id).collect();
        jobs.sort_unstable();
        jobs.dedup();
        let mut left = Vec::new();
        for job_id in jobs {
            let of_job: Vec<&Record> =
                ended.iter().filter(|record| record.run.ids.job_id == job_id).collect();
            left.append(&mut self.left_of_job(job_id, &of_job).await?);
        }
        left.sort_unstable_by_key(|record| record.number);
        Ok(left)
    }

    async fn left_of_job(&mut self, job_id: JobId, ended: &[&Record]) -> Result<Vec<Record>, Failure> {
        let oldest = ended.iter().map(|record| record.number).min();
        let mut since = Vec::new();
        for run in self.all(Vec::new(), Some(job_id), oldest).await? {
            match self.arguments(&run).await {
                Ok(arguments) => since.push((run.number, arguments)),
                // What does not fit the job as it is now stands for nothing.
                Err(Failure::Usage { .. } | Failure::Propose { .. }) => {}
                Err(failure) => return Err(failure),
            }
        }
        let mut left = Vec::new();
        for record in ended {
            let arguments = match self.arguments(record).await {
                Err(unfit @ (Failure::Usage { .. } | Failure::Propose { .. })) => {
                    eprintln!("warning: {unfit}");
                    continue;
                }
                arguments => arguments?,
            };
            let stands_for_it =
                |(number, others): &(i64, Arguments)| *number > record.number && *others == arguments;
            if !since.iter().any(stands_for_it) {
                left.push((*record).clone());
            }
        }
        Ok(left)
    }

    /// All runs of a kind, the latest first, down to the oldest that counts.
    async fn all(
        &self,
        statuses: Vec<Status>,
        job_id: Option<JobId>,
        oldest: Option<i64>,
    ) -> Result<Vec<Record>, StoreError> {
        let mut filter = RunFilter { statuses, job_id, ..RunFilter::of(self.tenant_id, PAGE) };
        let mut all: Vec<Record> = Vec::new();
        loop {
            let page = self.store.runs(&filter).await?;
            let Some(last) = page.last().map(|record| record.number) else { return Ok(all) };
            filter.before = Some(last);
            all.extend(page);
            if oldest.is_some_and(|oldest| last < oldest) {
                return Ok(all);
            }
        }
    }

    async fn wish(&mut self, record: &Record) -> Result<NewRun, Failure> {
        let params = self.arguments(record).await?;
        let job = self.job(record).await?.name.clone();
        Ok(NewRun {
            run_id: Uuid::now_v7(),
            tenant_id: self.tenant_id,
            job,
            params: params.into_iter().collect(),
            mode: Mode::Immediate,
            triggered_by: who::user(),
        })
    }

    /// What a run had for the parameters of its job.
    async fn arguments(&mut self, record: &Record) -> Result<Arguments, Failure> {
        let (id, requested_at_ms) = (record.id(), record.requested_at_ms);
        let job = self.job(record).await?;
        let unfit = |problem: String| {
            let what = format!("the run {id} cannot be retried: its params: {problem}");
            Failure::propose(what, "trueup run JOB.YAML --param NAME=VALUE", "runs the job with other params")
        };
        let given: Arguments =
            serde_json::from_str(&record.params).map_err(|error| unfit(error.to_string()))?;
        let moment = Moment::at_ms(requested_at_ms, job.timezone());
        let moment = moment.ok_or_else(|| unfit("its time is beyond all dates".to_owned()))?;
        let arguments = job
            .arguments(&given, moment)
            .map_err(|errors| unfit(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")))?;
        Ok(arguments.to_json())
    }

    /// A run's job as it is now.
    async fn job(&mut self, record: &Record) -> Result<&Job, Failure> {
        let job_id = record.run.ids.job_id;
        if !self.jobs.contains_key(&job_id) {
            let then = self.store.revision(job_id, record.revision).await?;
            let name = then.map_or_else(|| job_id.to_string(), |job| job.document.name);
            let now = find_job(self.store, self.tenant_id, &name).await?;
            let job = Job::parse(now.document.document.to_string().as_bytes(), None).map_err(|faults| {
                let what = format!("the job {name:?} cannot be run as it is now: {faults}");
                Failure::propose(what, "trueup run JOB.YAML", "saves it again and runs it")
            })?;
            self.jobs.insert(job_id, job);
        }
        Ok(&self.jobs[&job_id])
    }
}
