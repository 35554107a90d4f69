//! `trueup attempt`: one attempt at a run in a process of its own, so that whatever happens to it is only its own end.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Stdin, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use signal_hook::consts::{SIGINT, SIGTERM};
use trueup_compare::{Limits, Progress};
use trueup_events::Time;
use trueup_events::attempt::{Assignment, Line};
use trueup_events::outcome::{ErrorCode, Outcome, Reason, RunError};
use trueup_job::{Arguments, Job, Moment};
use trueup_reconcile::{Stopped, Work};

use crate::failure::{FAILED, INTERRUPTED};
use crate::{job_file, memory};

/// How long a cancelled attempt may take to remove what it made.
const GRACE: Duration = Duration::from_millis(800);

/// How often an attempt tells how far it is.
const TICK: Duration = Duration::from_secs(1);

/// Reads an assignment, carries it out, and writes what happens, a line each.
///
/// Whoever started it holds its standard input open; when that ends, so does the attempt.
pub(crate) fn run() -> ExitCode {
    offer_to_be_killed();
    if let Err(error) = ignore_interrupts() {
        eprintln!("error: cannot ignore interrupts: {error}");
        return ExitCode::from(FAILED);
    }
    let mut input = BufReader::new(io::stdin());
    let outcome = match assignment(&mut input) {
        Ok(None) => return ExitCode::from(INTERRUPTED),
        Ok(Some(assignment)) => match carry_out(&assignment, input) {
            Ok(verdict) => Outcome::Result(verdict),
            Err(Stopped::Failed(error)) => Outcome::Error(error),
            Err(Stopped::Cancelled) => return ExitCode::from(INTERRUPTED),
        },
        Err(error) => Outcome::Error(error),
    };
    match write(&Line::Ended(outcome)) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever was to hear it has left, which is as good as a cancel.
        Err(_) => ExitCode::from(INTERRUPTED),
    }
}

/// The assignment; none if whoever was to give it has left.
fn assignment(input: &mut BufReader<Stdin>) -> Result<Option<Assignment>, RunError> {
    let unreadable = |error: &dyn std::fmt::Display| {
        RunError::of_code(ErrorCode::Unknown, format!("the assignment cannot be read: {error}"))
    };
    let mut line = String::new();
    input.read_line(&mut line).map_err(|error| unreadable(&error))?;
    if line.is_empty() {
        return Ok(None);
    }
    serde_json::from_str(&line).map(Some).map_err(|error| unreadable(&error))
}

fn carry_out(
    assignment: &Assignment,
    input: BufReader<Stdin>,
) -> Result<trueup_events::outcome::Verdict, Stopped> {
    let job = Job::parse(assignment.job.to_string().as_bytes(), None).map_err(|faults| invalid(&faults))?;
    let arguments = arguments(&job, assignment)?;
    let limits = limits(&job, assignment)?;
    fs::create_dir_all(&assignment.breaks_dir).map_err(|error| {
        let folder = assignment.breaks_dir.display();
        RunError::new(Reason::ComparisonFailed, format!("cannot make {folder} for the breaks: {error}"))
    })?;
    let progress = Arc::new(Progress::new(job.sources.len()));
    cancel_at_end_of(input, &progress);
    let work = Work {
        job: &job,
        arguments: &arguments,
        look_up: &job_file::look_up,
        limits: &limits,
        breaks_dir: &assignment.breaks_dir,
        breaks_kept: 0,
        tick: TICK,
    };
    let carried = trueup_reconcile::carry_out(&work, &progress, &mut |payload| {
        // Nobody is there to hear the rest.
        if write(&Line::Told { time: now(), payload }).is_err() {
            progress.cancel();
        }
    })?;
    Ok(carried.verdict)
}

fn arguments(job: &Job, assignment: &Assignment) -> Result<Arguments, RunError> {
    let given: BTreeMap<String, serde_json::Value> = serde_json::from_str(&assignment.params)
        .map_err(|error| invalid(&format!("params: expected a JSON object: {error}")))?;
    let moment = Moment::at_ms(assignment.requested_at_ms, job.timezone())
        .ok_or_else(|| invalid(&"requested_at_ms: this is beyond all dates"))?;
    job.arguments(&given, moment).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        invalid(&format!("params: {}", errors.join("; ")))
    })
}

fn limits(job: &Job, assignment: &Assignment) -> Result<Limits, RunError> {
    // What the job says counts more than what every run is given.
    let given = assignment.memory_bytes.filter(|_| job.memory.is_none());
    let memory = given.or_else(|| memory::of_job(job.memory, memory::free));
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    Ok(Limits {
        memory: memory.ok_or_else(|| invalid(&memory::TOO_LITTLE))?,
        threads: job.threads.or(assignment.threads).map_or_else(processors, usize::from),
        temp_dir: std::env::temp_dir(),
    })
}

fn invalid(what: &dyn ToString) -> RunError {
    RunError::new(Reason::InvalidJob, what.to_string())
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_unix_us(since.as_micros().try_into().unwrap_or(i64::MAX))
}

fn write(line: &Line) -> io::Result<()> {
    let mut output = io::stdout().lock();
    serde_json::to_writer(&mut output, line)?;
    output.write_all(b"\n")?;
    output.flush()
}

/// Cancels when whoever started this has left, or wants it to end.
fn cancel_at_end_of(mut input: BufReader<Stdin>, progress: &Arc<Progress>) {
    let progress = Arc::clone(progress);
    thread::spawn(move || {
        // An input that cannot be read has ended as well.
        drop(io::copy(&mut input.by_ref(), &mut io::sink()));
        progress.cancel();
        // Opening a source cannot be cancelled, but has nothing to remove either.
        thread::sleep(GRACE);
        std::process::exit(INTERRUPTED.into());
    });
}

/// Ctrl-C reaches the whole terminal, and a service manager's SIGTERM the whole service; whoever started this decides what it means.
fn ignore_interrupts() -> io::Result<()> {
    let ignore = |signal| signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
    [SIGINT, SIGTERM].into_iter().try_for_each(|signal| ignore(signal).map(drop))
}

/// When memory runs out, an attempt can be lost; the process that tells of it cannot.
fn offer_to_be_killed() {
    // Only Linux has the file, and where it cannot be written the kernel chooses as ever.
    drop(fs::write("/proc/self/oom_score_adj", "1000"));
}
