//! `trueup run`: a job, from its file to its verdict.

mod live;
mod turn;

use std::env;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::time::{sleep, timeout};
use trueup_control::{Child, Local, Means, Settings, Station, Stopping, millis, see_through, sweep_once};
use trueup_events::outcome::{Outcome, Verdict};
use trueup_events::payload::Mode;
use trueup_events::{RunId, TenantId};
use trueup_job::Job;
use trueup_lifecycle::{Ending, Finished, Policy, State};
use trueup_store::{JobDocument, NewRun, Options, Record, Role, Store, StoreError};
use uuid::Uuid;

use self::live::Live;
use crate::arguments::{Colours, Run};
use crate::failure::{Failure, INTERRUPTED};
use crate::interrupt::Interrupted;
use crate::place::{self, Home};
use crate::story::Story;
use crate::story_tables::{counts, tables};
use crate::{job_file, log, output, runs, runtime, shell, terminal, who};

/// Why a run was cancelled by Ctrl-C, for those who ask later.
const INTERRUPT: &str = "interrupted";
/// How long after an interrupt a run may take to end before it is left to itself.
const LEAVE_WITHIN: Duration = Duration::from_secs(10);
/// The pause before a cancel that the store did not hear is repeated.
const CANCEL_PAUSE: Duration = Duration::from_millis(300);

/// Runs a job and says how to exit.
pub(crate) fn run(options: &Run) -> Result<ExitCode, Failure> {
    let job = job_file::read(&options.job)?;
    let params = job_file::arguments(&job, &options.params)?.to_json().into_iter().collect();
    let home = Home::of(&options.places)?;
    log::start(options.log);
    let interrupted = Interrupted::catch()?;
    runtime::block_on(async {
        let (store, tenant_id) = home.open(Role::Command, Options::default()).await?;
        let again = place::again(&options.places);
        let asker = Asker { store: Arc::new(store), tenant_id, home: &home, interrupted, again };
        let (record, story) = Box::pin(asker.ask(&job, params, options.quiet)).await?;
        // Its tasks have ended with the run, so nobody else has it.
        if let Some(store) = Arc::into_inner(asker.store) {
            store.close().await?;
        }
        report(options, &job, &record, &story)
    })
}

/// Who asks for a run and sees it through.
struct Asker<'a> {
    store: Arc<Store>,
    tenant_id: TenantId,
    home: &'a Home,
    interrupted: Interrupted,
    /// The options by which a command that is proposed finds the store.
    again: String,
}

impl Asker<'_> {
    /// Saves the job, asks for a run of it, and comes back with its end and what it told.
    async fn ask(&self, job: &Job, params: Value, quiet: bool) -> Result<(Record, Story), Failure> {
        let (store, tenant_id, name) = (&self.store, self.tenant_id, who::process());
        let runs_dir = self.home.runs_of(tenant_id);
        let engine = Arc::new(Local::new(runs_dir.clone()));
        let lease = Settings::default().lease;
        let lost = sweep_once(&engine, store, &name, lease).await?;
        if lost > 0 {
            tracing::warn!(
                lost,
                "ended runs whose process was lost: `trueup runs list{}` shows them",
                self.again
            );
        }
        store.save_job(tenant_id, document(job), &who::user()).await?;
        let new = NewRun {
            run_id: Uuid::now_v7(),
            tenant_id,
            job: job.name.clone(),
            params,
            mode: Mode::Immediate,
            triggered_by: who::user(),
        };
        let run_id = store.trigger(new).await?;
        let station = Station {
            store: Arc::clone(store),
            performer: Child { program: env::current_exe().map_err(Failure::Runtime)? },
            means: Means { runs_dir, memory_bytes: None, threads: None },
            name,
            lease,
            stopping: Stopping::default(),
        };
        let story = Arc::new(Mutex::new(Story::default()));
        let live = terminal::width_of_stderr().filter(|_| !quiet).map(|width| Live::draw(&story, width));
        let record = Box::pin(self.see_through(&engine, station, run_id, &story)).await?;
        drop(live);
        let mut whole = Story::default();
        live::catch_up(store, tenant_id, run_id, &mut 0, |event| whole.hear(event)).await?;
        Ok((record, whole))
    }

    /// Waits for the end of a run; an interrupt cancels it, and that is waited for as well.
    async fn see_through(
        &self,
        engine: &Arc<Local>,
        station: Station<Child>,
        run_id: RunId,
        story: &Mutex<Story>,
    ) -> Result<Record, Failure> {
        tokio::select! {
            ended = see_through(engine, station, self.tenant_id, run_id) => ended?.ok_or(Failure::Interrupted),
            never = live::follow(&self.store, self.tenant_id, run_id, story) => match never {},
            never = turn::explain(&self.store, self.tenant_id, run_id, &self.again) => match never {},
            () = self.leave_when_interrupted(run_id) => Err(Failure::Left { id: run_id }),
        }
    }

    /// Waits for an interrupt, cancels the run, and gives it some time to end.
    async fn leave_when_interrupted(&self, run_id: RunId) {
        self.interrupted.wait().await;
        eprintln!("cancelling; Ctrl-C again ends at once");
        let leave = async {
            self.cancel(run_id).await;
            std::future::pending::<()>().await;
        };
        // Either way the time is over.
        drop(timeout(LEAVE_WITHIN, leave).await);
    }

    /// Asks for the run to end until the store has heard it.
    async fn cancel(&self, run_id: RunId) {
        let mut has_warned = false;
        loop {
            let by = who::user();
            match self.store.request_cancel(self.tenant_id, run_id, &by, Some(INTERRUPT)).await {
                Err(error) if error.is_passing() => {
                    if !has_warned {
                        eprintln!("warning: {error}; trying again");
                    }
                    has_warned = true;
                    sleep(CANCEL_PAUSE).await;
                }
                // It has ended; how, is about to be told.
                Ok(_) | Err(StoreError::Refused(_)) => return,
                Err(error) => {
                    eprintln!("warning: the run goes on: {error}");
                    return;
                }
            }
        }
    }
}

fn document(job: &Job) -> JobDocument {
    JobDocument {
        name: job.name.clone(),
        document: job.document(),
        queue: job.queue.clone(),
        policy: Policy { deadline_ms: millis(job.deadline), retries: job.retries },
    }
}

/// Prints how a run ended, and says how to exit.
fn report(options: &Run, job: &Job, record: &Record, story: &Story) -> Result<ExitCode, Failure> {
    if options.json {
        output::say(&format!("{}\n", runs::json(record, &job.name)))?;
    }
    let id = record.id();
    let verdict = match &record.run.state {
        State::Finished(Finished { ending: Ending::Concluded(Outcome::Result(verdict)), .. }) => *verdict,
        State::Finished(Finished { ending: Ending::Concluded(Outcome::Error(error)), .. }) => {
            return Err(Failure::Run { id, status: record.run.state.status(), error: error.clone() });
        }
        _ => {
            let by = record.run.cancel.as_ref().map(|cancel| format!(" by {}", cancel.by));
            eprintln!("the run {id} was cancelled{}", by.unwrap_or_default());
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    if !options.json {
        let counted = story.comparison.as_ref().map(|comparison| format!(": {}", counts(comparison)));
        let verdict_line = format!("{verdict}{}\n", counted.unwrap_or_default());
        let is_reached = |name: &str| story.stages.iter().any(|stage| stage.name == name);
        let names = job.stages.iter().map(|stage| stage.name.as_str());
        let unreached: Vec<&str> = names.filter(|name| !is_reached(name)).collect();
        let tables = || tables(story, &unreached, terminal::look_of_stdout(Colours::Auto));
        let more = match (verdict, story.broken_stage()) {
            (Verdict::Unmatched, Some(stage)) => {
                let one_of =
                    (story.stages.len() > 1).then(|| format!(" --stage {}", shell::word(&stage.name)));
                let (one_of, again) = (one_of.unwrap_or_default(), place::again(&options.places));
                format!("`trueup runs breaks {id}{one_of}{again}` shows what differs\n")
            }
            (Verdict::Matched, _) | (_, None) => String::new(),
        };
        let rest = if options.quiet { String::new() } else { format!("{}\nrun {id}\n{more}", tables()) };
        output::say(&(verdict_line + &rest))?;
    }
    Ok(match verdict {
        Verdict::Matched => ExitCode::SUCCESS,
        Verdict::Unmatched => ExitCode::from(1),
    })
}
