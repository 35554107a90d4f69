//! The whole table of states and events, as a snapshot: a change of it is a change of what is promised.

use std::fmt::Write;

use trueup_events::outcome::{ErrorCode, Outcome, Reason, RunError, Verdict};
use trueup_events::{Ids, JobId, RunId, TenantId};
use uuid::Uuid;

use crate::grant::{Claim, Lease};
use crate::run::{Cancel, Policy, Run, Settings};
use crate::state::{Ending, Epoch, Finished, Hold, Running, Scheduled, Scheduling, State};
use crate::step::{Change, Event, Refusal, step};
use crate::verbs::Report;

const NOW_MS: i64 = 1_000_000;
const EPOCH: Epoch = Epoch(7);

fn ids() -> Ids {
    Ids { run_id: RunId::Uuid(Uuid::nil()), job_id: JobId(Uuid::nil()), tenant_id: TenantId(Uuid::nil()) }
}

fn run(state: State) -> Run {
    Run { ids: ids(), policy: Policy::default(), epoch: EPOCH, state, cancel: None, beside: None }
}

fn cancel() -> Cancel {
    Cancel { by: "ann".to_owned(), at_ms: NOW_MS, reason: None }
}

fn scheduling(executor: Option<&str>, due_at_ms: i64, submits: u32) -> State {
    let hold = match executor {
        Some(executor) => Hold::Claimed { executor: executor.to_owned(), stale_at_ms: due_at_ms },
        None => Hold::BackingOff { until_ms: due_at_ms },
    };
    State::Scheduling(Scheduling { hold, submits, attempt: 1, deadline_at_ms: None })
}

/// What waits for its second attempt, and has a deadline from its first.
fn second_attempt(state: State, deadline_at_ms: i64) -> Run {
    let (attempt, deadline_at_ms) = (2, Some(deadline_at_ms));
    run(match state {
        State::Scheduling(one) => State::Scheduling(Scheduling { attempt, deadline_at_ms, ..one }),
        State::Scheduled(one) => State::Scheduled(Scheduled { attempt, deadline_at_ms, ..one }),
        other => other,
    })
}

fn scheduled(since_ms: i64) -> State {
    State::Scheduled(Scheduled { submits: 1, attempt: 1, since_ms, deadline_at_ms: None })
}

fn running(lease_until_ms: i64, deadline_at_ms: i64) -> State {
    let worker = "worker".to_owned();
    State::Running(Running { worker, submits: 1, attempt: 1, lease_until_ms, deadline_at_ms })
}

fn finished(ending: Ending) -> Run {
    let cancel = (ending == Ending::Cancelled).then(cancel);
    Run { cancel, ..run(State::Finished(Finished { at_ms: NOW_MS - 1, ending })) }
}

fn failed(reason: Reason) -> Run {
    finished(Ending::Concluded(Outcome::Error(RunError::new(reason, "…"))))
}

fn states() -> Vec<(&'static str, Run)> {
    let (past, soon, late) = (NOW_MS - 1, NOW_MS + 1, NOW_MS + 1_000);
    let retried = Policy { retries: 1, ..Policy::default() };
    let asked = |state| Run { cancel: Some(cancel()), ..run(state) };
    vec![
        ("requested", run(State::Requested)),
        ("scheduling", run(scheduling(Some("executor"), soon, 1))),
        ("scheduling, claim stale", run(scheduling(Some("other"), past, 1))),
        ("scheduling, claim stale, last submit", run(scheduling(Some("other"), past, 5))),
        ("scheduling, another's claim", run(scheduling(Some("other"), soon, 1))),
        ("scheduling, pausing", run(scheduling(None, soon, 1))),
        ("scheduling, pause over", run(scheduling(None, past, 1))),
        ("scheduling, pausing between attempts", second_attempt(scheduling(None, soon, 0), late)),
        ("scheduling, pause between attempts over", second_attempt(scheduling(None, past, 0), late)),
        (
            "scheduling, claim stale, past its deadline",
            second_attempt(scheduling(Some("other"), past, 1), past),
        ),
        (
            "scheduling, another's claim, past its deadline",
            second_attempt(scheduling(Some("other"), soon, 1), past),
        ),
        ("scheduling, pausing, past its deadline", second_attempt(scheduling(None, soon, 1), past)),
        ("scheduling, pause over, past its deadline", second_attempt(scheduling(None, past, 1), past)),
        ("scheduled", run(scheduled(past))),
        ("scheduled long ago", run(scheduled(0))),
        ("scheduled, retried", second_attempt(scheduled(past), late)),
        ("scheduled, retried, past its deadline", second_attempt(scheduled(past), past)),
        ("scheduled long ago, retried, past its deadline", second_attempt(scheduled(0), past)),
        ("running", run(running(soon, late))),
        ("running, retry allowed", Run { policy: retried, ..run(running(soon, late)) }),
        ("running, lease out", run(running(past, late))),
        ("running, lease out, retry allowed", Run { policy: retried, ..run(running(past, late)) }),
        ("running, lease out, past its deadline", Run { policy: retried, ..run(running(past, past)) }),
        ("running, cancel asked", asked(running(soon, late))),
        ("running, cancel asked, retry allowed", Run { policy: retried, ..asked(running(soon, late)) }),
        ("running, cancel asked, lease out", asked(running(past, late))),
        ("completed", finished(Ending::Concluded(Outcome::Result(Verdict::Matched)))),
        ("failed", failed(Reason::SourceMissing)),
        ("timeout", failed(Reason::DeadlineExceeded)),
        ("cancelled", finished(Ending::Cancelled)),
        ("abandoned", failed(Reason::WorkerLost)),
    ]
}

/// Shows what comes of each event in one state.
fn answers(run: &Run) -> Vec<(&'static str, String)> {
    let claim = Claim { run_id: run.ids.run_id, epoch: EPOCH, executor: "executor".to_owned() };
    let stale_claim = Claim { epoch: Epoch(6), ..claim.clone() };
    let worker = "worker".to_owned();
    let lease = Lease { run_id: run.ids.run_id, epoch: EPOCH, worker, deadline_at_ms: NOW_MS };
    let stale_lease = Lease { epoch: Epoch(6), ..lease.clone() };
    let passing = RunError::new(Reason::ConnectionFailed, "…");
    let lasting = RunError::new(Reason::InvalidJob, "…");
    let crashed = RunError::of_code(ErrorCode::Crashed, "…");
    let matched = Report::Ended(Outcome::Result(Verdict::Matched));
    let errored = |error: &RunError| Report::Ended(Outcome::Error(error.clone()));
    let (died, hopeless) = (errored(&crashed), errored(&lasting));
    let wish = cancel();
    let events = [
        ("claim", Event::Claim { executor: "executor" }),
        ("take over", Event::TakeOver { executor: "executor" }),
        ("hand off", Event::HandOff(&claim)),
        ("hand off, claim lost", Event::HandOff(&stale_claim)),
        ("submit failed, may pass", Event::SubmitFailed(&claim, &passing)),
        ("submit failed for good", Event::SubmitFailed(&claim, &lasting)),
        ("submit failed, claim lost", Event::SubmitFailed(&stale_claim, &passing)),
        ("take", Event::Take { worker: "worker" }),
        ("heartbeat", Event::Heartbeat(&lease)),
        ("heartbeat, lease lost", Event::Heartbeat(&stale_lease)),
        ("report MATCHED", Event::Report(&lease, &matched)),
        ("report MATCHED, lease lost", Event::Report(&stale_lease, &matched)),
        ("report a crash", Event::Report(&lease, &died)),
        ("report what would fail again", Event::Report(&lease, &hopeless)),
        ("report that it stopped", Event::Report(&lease, &Report::Stopped)),
        ("hand back", Event::HandBack(&lease)),
        ("hand back, lease lost", Event::HandBack(&stale_lease)),
        ("the engine says MATCHED", Event::Answer(&matched)),
        ("the engine says that it failed", Event::Answer(&died)),
        ("the engine says that it stopped", Event::Answer(&Report::Stopped)),
        ("expire", Event::Expire),
        ("cancel", Event::Cancel(&wish)),
    ];
    let show = |event| answer(run, step(run, event, NOW_MS, &Settings::default()));
    events.into_iter().map(|(name, event)| (name, show(event))).collect()
}

fn answer(before: &Run, result: Result<Change, Refusal>) -> String {
    let change = match result {
        Ok(change) => change,
        Err(Refusal::Illegal(_)) => return "illegal".to_owned(),
        Err(Refusal::Lost { .. }) => return "lost".to_owned(),
        Err(Refusal::Early { .. }) => return "too early".to_owned(),
        Err(Refusal::Overdue { .. }) => return "too late".to_owned(),
        Err(Refusal::Finished(finished)) => return format!("refused: {}", finished.ending.status()),
    };
    let mut text = format!("→ {}", change.run.state.status());
    if change.run.epoch != before.epoch {
        text += ", next epoch";
    }
    if change.run.cancel != before.cancel {
        text += ", cancel asked";
    }
    if change.run.beside != before.beside {
        text += ", kept beside";
    }
    for event in &change.events {
        write!(text, " + {}", event.event_type()).expect("text takes more text");
    }
    text
}

#[test]
fn every_state_has_an_answer_to_every_event() {
    let mut table = String::new();
    for (name, run) in states() {
        let answers = answers(&run);
        writeln!(table, "{name}").expect("text takes more text");
        for (event, answer) in answers {
            writeln!(table, "    {event:<30} {answer}").expect("text takes more text");
        }
    }
    insta::assert_snapshot!(table);
}
