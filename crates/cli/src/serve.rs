//! `trueup serve` and `trueup worker`: what moves runs on until it is interrupted.

use std::env;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use trueup_control::{Child, Local, Means, Roles, Settings, Station, Stopping, millis};
use trueup_lifecycle::Settings as RunSettings;
use trueup_store::{Options, Place, Role};

use crate::arguments::{Door, Interval, Serve, Work, Worker};
use crate::failure::{Failure, INTERRUPTED};
use crate::interrupt::Interrupted;
use crate::place::Home;
use crate::{api, log, memory, runtime, who};

/// How much of the free memory runs have that are given no other limit.
const MEMORY_SHARE: &str = "60%";

/// How long stopping in order takes at most: ten seconds, a little of which the process needs to exit.
const ENDS_WITHIN: Duration = Duration::from_millis(9_800);

/// Executes, works and sweeps.
pub(crate) fn serve(options: &Serve) -> Result<ExitCode, Failure> {
    let Interval(reconcile_interval) = options.reconcile_interval;
    let Work { lease, retention, .. } = options.work;
    let settings = Settings { reconcile_interval, lease, retention, ..Settings::default() };
    let store_options = Options {
        settings: RunSettings {
            lease_ms: millis(lease),
            reconcile_grace_ms: millis(options.reconcile_grace),
            ..RunSettings::default()
        },
        ..Options::default()
    };
    let door = Some(&options.door);
    start(&Home::of(&options.places)?, &options.work, door, settings, store_options)
}

/// Works alone.
pub(crate) fn work(options: &Worker) -> Result<ExitCode, Failure> {
    let Work { lease, retention, .. } = options.work;
    let settings = Settings { lease, retention, ..Settings::default() };
    let run_settings = RunSettings { lease_ms: millis(lease), ..RunSettings::default() };
    let store_options = Options { settings: run_settings, ..Options::default() };
    start(&Home::of(&options.places)?, &options.work, None, settings, store_options)
}

/// Works, and where there is a door serves, until it is interrupted.
fn start(
    home: &Home,
    work: &Work,
    door: Option<&Door>,
    settings: Settings,
    store_options: Options,
) -> Result<ExitCode, Failure> {
    let executor = door.is_some();
    let roles = Roles { executor, places: work.places.unwrap_or_else(default_places) };
    if roles == (Roles { executor: false, places: 0 }) {
        return Err(Failure::usage_hint("--places 0: a worker without places does nothing", "give it one"));
    }
    let means = means(home, work, roles.places)?;
    let program = env::current_exe().map_err(Failure::Runtime)?;
    let name = work.name.clone().unwrap_or_else(|| name(home, executor));
    log::start(work.log);
    let interrupted = Interrupted::catch()?;
    runtime::serve(async {
        let listener = match door {
            Some(door) => Some(api::bind(door).await?),
            None => None,
        };
        // A worker is beside the one server that a SQLite file may have.
        let role = if executor { Role::Server } else { Role::Command };
        let store_options = Options { name: Some(name.clone()), ..store_options };
        let (store, tenant_id) = home.open(role, store_options).await?;
        let runs_dir = home.runs_of(tenant_id);
        let (store, stopping) = (Arc::new(store), Stopping::default());
        let station = Station {
            store: Arc::clone(&store),
            performer: Child { program },
            means: Means { runs_dir: runs_dir.clone(), ..means },
            name: name.clone(),
            lease: settings.lease,
            stopping: stopping.clone(),
        };
        let engine = Arc::new(Local::new(runs_dir.clone()));
        let listens_on = match listener {
            Some(listener) => Some(api::open(listener, &store, runs_dir, &stopping).await?),
            None => None,
        };
        let api = listens_on.map(tracing::field::display);
        tracing::info!(store = %home.store, name, places = roles.places, executor, api, "started");
        trueup_control::serve(&engine, station, roles, settings);
        interrupted.wait().await;
        tracing::info!("stopping: what is under way is finished or handed back; Ctrl-C again ends at once");
        let end = Instant::now() + ENDS_WITHIN;
        stopping.finish(settings.grace).await;
        // Once all tasks have ended nobody else has it. What a store that hangs was not told is told by whoever opens it next.
        if let Some(store) = Arc::into_inner(store) {
            timeout_at(end, store.close()).await.unwrap_or(Ok(()))?;
        }
        tracing::info!("stopped");
        Ok(ExitCode::from(INTERRUPTED))
    })
}

/// On SQLite a server is the only one, so that it keeps its name and recognises after a crash what it had begun.
fn name(home: &Home, executor: bool) -> String {
    match home.store {
        Place::Sqlite(_) if executor => format!("serve@{}", who::host()),
        _ => who::process(),
    }
}

fn default_places() -> u32 {
    (processors() / 2).max(1).try_into().unwrap_or(u32::MAX)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What every run is given that asks for nothing else: runs at once share what there is.
fn means(home: &Home, work: &Work, places: u32) -> Result<Means, Failure> {
    let sharing = places.max(1);
    let memory_bytes = match &work.memory {
        Some(given) => memory::parse(given, memory::free)?,
        None => memory::parse(MEMORY_SHARE, || memory::free() / u64::from(sharing))?,
    };
    let shared_threads = || NonZeroUsize::new(processors() / sharing as usize).unwrap_or(NonZeroUsize::MIN);
    Ok(Means {
        runs_dir: home.runs_dir.clone(),
        memory_bytes: Some(memory_bytes),
        threads: Some(work.threads.unwrap_or_else(shared_threads)),
    })
}
