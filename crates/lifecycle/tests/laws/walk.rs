//! Random lives of a run: the real verbs, asked by anybody at any time, with grants old and new.

use proptest::prelude::*;
use trueup_events::outcome::{ErrorCode, Outcome, Reason, RunError, Verdict};
use trueup_events::payload::Mode;
use trueup_events::{Ids, JobId, Payload, RunId, TenantId};
use trueup_lifecycle::{
    Cancel, Change, Claim, Hold, Lease, Policy, Refusal, Report, Request, Run, Scheduling, Settings, State,
};
use uuid::Uuid;

pub(crate) const SETTINGS: Settings =
    Settings { lease_ms: 3, reconcile_grace_ms: 2, max_submit_attempts: 4, backoff_ms: 1 };

/// One thing that somebody tries; a grant is the newest, or one that was newest so many grants ago.
#[derive(Debug, Clone)]
pub(crate) enum Try {
    /// What the run waits for, by its owner; a worker reports this.
    Next(Report),
    Claim,
    TakeOver,
    HandOff {
        grants_ago: usize,
    },
    SubmitFailed {
        grants_ago: usize,
        error: RunError,
    },
    Take,
    Heartbeat {
        grants_ago: usize,
    },
    Report {
        grants_ago: usize,
        report: Report,
    },
    Expire,
    Cancel,
    Wait {
        ms: i64,
    },
}

/// A life: every run that it was, and every change that was committed.
#[derive(Debug)]
pub(crate) struct Life {
    pub run: Run,
    pub changes: Vec<Change>,
}

impl Life {
    pub(crate) fn history(&self) -> Vec<Payload> {
        self.changes.iter().flat_map(|change| change.events.clone()).collect()
    }
}

/// Lives one life: each try is committed if the run allows it.
pub(crate) fn live(policy: Policy, tries: &[Try]) -> Life {
    let ids = Ids { run_id: RunId::Number(1), job_id: JobId(Uuid::nil()), tenant_id: TenantId(Uuid::nil()) };
    let request = Request { mode: Mode::Immediate, by: "ann".to_owned(), queue: "default".to_owned() };
    let requested = Run::request(ids, policy, &request);
    let mut life = Life { run: requested.run.clone(), changes: vec![requested] };
    let (mut claims, mut leases, mut now_ms) = (Vec::new(), Vec::new(), 0);
    for attempt in tries {
        if let Try::Wait { ms } = attempt {
            now_ms += ms;
        } else if let Some(Ok(change)) = ask(&life.run, attempt, now_ms, &mut claims, &mut leases) {
            life.run = change.run.clone();
            life.changes.push(change);
        }
    }
    life
}

/// Asks the run; none where there is no such grant.
fn ask(
    run: &Run,
    attempt: &Try,
    now_ms: i64,
    claims: &mut Vec<Claim>,
    leases: &mut Vec<Lease>,
) -> Option<Result<Change, Refusal>> {
    let answer = match attempt {
        Try::Next(report) => {
            let next = match run.state {
                State::Requested | State::Scheduling(Scheduling { hold: Hold::BackingOff { .. }, .. }) => {
                    Try::Claim
                }
                State::Scheduling(_) => Try::HandOff { grants_ago: 0 },
                State::Scheduled(_) => Try::Take,
                State::Running(_) | State::Finished(_) => {
                    Try::Report { grants_ago: 0, report: report.clone() }
                }
            };
            return ask(run, &next, now_ms, claims, leases);
        }
        Try::Claim => run.claim("executor", now_ms, &SETTINGS).map(|(change, claim)| {
            claims.push(claim);
            change
        }),
        Try::TakeOver => run.take_over("sweeper", now_ms, &SETTINGS).map(|(change, claim)| {
            claims.extend(claim);
            change
        }),
        Try::HandOff { grants_ago } => run.hand_off(ago(claims, *grants_ago)?, now_ms, &SETTINGS),
        Try::SubmitFailed { grants_ago, error } => {
            run.submit_failed(ago(claims, *grants_ago)?, error, now_ms, &SETTINGS)
        }
        Try::Take => run.take("worker", now_ms, &SETTINGS).map(|(change, lease)| {
            leases.push(lease);
            change
        }),
        Try::Heartbeat { grants_ago } => run.heartbeat(ago(leases, *grants_ago)?, now_ms, &SETTINGS),
        Try::Report { grants_ago, report } => {
            run.report(ago(leases, *grants_ago)?, report, now_ms, &SETTINGS)
        }
        Try::Expire => run.expire(now_ms, &SETTINGS),
        Try::Cancel => {
            let cancel = Cancel { by: "ann".to_owned(), at_ms: now_ms, reason: None };
            run.cancel(&cancel, &SETTINGS).map(|(change, _)| change)
        }
        Try::Wait { .. } => return None,
    };
    Some(answer)
}

fn ago<T>(grants: &[T], grants_ago: usize) -> Option<&T> {
    grants.len().checked_sub(grants_ago + 1).map(|at| &grants[at])
}

pub(crate) fn policies() -> impl Strategy<Value = Policy> {
    (1_i64..40, 0_u32..3).prop_map(|(deadline_ms, retries)| Policy { deadline_ms, retries })
}

pub(crate) fn errors() -> impl Strategy<Value = RunError> {
    prop_oneof![
        prop::sample::select(Reason::ALL.to_vec()).prop_map(|reason| RunError::new(reason, reason.name())),
        prop::sample::select(ErrorCode::ALL.to_vec()).prop_map(|code| RunError::of_code(code, "signal 9")),
    ]
}

fn reports() -> impl Strategy<Value = Report> {
    prop_oneof![
        2 => prop::sample::select(Verdict::ALL.to_vec()).prop_map(|verdict| Report::Ended(Outcome::Result(verdict))),
        3 => errors().prop_map(|error| Report::Ended(Outcome::Error(error))),
        2 => Just(Report::Stopped),
    ]
}

/// Lives that get somewhere: what comes next is tried more often than the rest.
pub(crate) fn lives() -> impl Strategy<Value = Life> {
    let grants_ago = || prop_oneof![2 => Just(0_usize), 2 => 1_usize..3];
    let attempt = prop_oneof![
        12 => reports().prop_map(Try::Next),
        1 => Just(Try::Claim),
        3 => Just(Try::TakeOver),
        1 => grants_ago().prop_map(|grants_ago| Try::HandOff { grants_ago }),
        1 => (grants_ago(), errors()).prop_map(|(grants_ago, error)| Try::SubmitFailed { grants_ago, error }),
        1 => Just(Try::Take),
        1 => grants_ago().prop_map(|grants_ago| Try::Heartbeat { grants_ago }),
        1 => (grants_ago(), reports()).prop_map(|(grants_ago, report)| Try::Report { grants_ago, report }),
        1 => Just(Try::Expire),
        1 => Just(Try::Cancel),
        3 => (1_i64..5).prop_map(|ms| Try::Wait { ms }),
    ];
    (policies(), prop::collection::vec(attempt, 0..60)).prop_map(|(policy, tries)| live(policy, &tries))
}
