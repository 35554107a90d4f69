//! Which runs to list.

use std::cmp::Reverse;

use trueup_events::outcome::Verdict;
use trueup_events::{JobId, TenantId};
use trueup_lifecycle::Status;

use crate::tx::Found;

/// How far the order of numbers and that of times may be apart: a run has its time before its number, and no transaction takes longer in between.
const SKEW_MS: i64 = 60_000;

/// Which runs to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFilter {
    /// Whose.
    pub tenant_id: TenantId,
    /// In one of these; any, if there are none.
    pub statuses: Vec<Status>,
    /// That found one of these; anything, if there are none.
    pub verdicts: Vec<Verdict>,
    /// Of this job alone.
    pub job_id: Option<JobId>,
    /// Asked for at this time or later.
    pub since_ms: Option<i64>,
    /// Asked for before this time.
    pub until_ms: Option<i64>,
    /// Asked for before the run of this number: the next page after the one that ended with it.
    pub before: Option<i64>,
    /// No more than so many.
    pub limit: u32,
}

/// What the runs of a list have in common, as far as an index of its own finds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Nothing.
    Any,
    /// One of these states.
    States(Vec<Status>),
    /// One of these verdicts.
    Verdicts(Vec<Verdict>),
}

impl RunFilter {
    /// The latest runs of a tenant.
    pub fn of(tenant_id: TenantId, limit: u32) -> Self {
        Self {
            tenant_id,
            statuses: Vec::new(),
            verdicts: Vec::new(),
            job_id: None,
            since_ms: None,
            until_ms: None,
            before: None,
            limit,
        }
    }

    /// What is asked of states and verdicts; only a run that is completed has a verdict.
    pub(crate) fn wanted(&self) -> Wanted {
        let may_be_completed = self.statuses.is_empty() || self.statuses.contains(&Status::Completed);
        match (&self.statuses[..], &self.verdicts[..]) {
            ([], []) => Wanted::Any,
            (statuses, []) => Wanted::States(statuses.to_vec()),
            (_, verdicts) if may_be_completed => Wanted::Verdicts(verdicts.to_vec()),
            _ => Wanted::States(Vec::new()),
        }
    }

    /// The times before which the numbers of runs are too low for all that are asked for, and from which on too high; none if any time will do.
    pub(crate) fn times_ms(&self) -> Option<(i64, i64)> {
        let (since_ms, until_ms) = self.span_ms();
        let is_bounded = self.since_ms.is_some() || self.until_ms.is_some();
        is_bounded.then(|| (since_ms.saturating_sub(SKEW_MS), until_ms.saturating_add(SKEW_MS)))
    }

    /// From when and until when.
    pub(crate) fn span_ms(&self) -> (i64, i64) {
        (self.since_ms.unwrap_or(i64::MIN), self.until_ms.unwrap_or(i64::MAX))
    }
}

impl Wanted {
    /// The verdicts and, of runs that ended without one, the states: what the index of a job's runs has.
    pub(crate) fn ends(&self) -> Vec<&'static str> {
        let verdicts = |verdicts: &[Verdict]| verdicts.iter().map(|one| one.name()).collect();
        let of_state = |state: &Status| match state {
            Status::Completed => verdicts(Verdict::ALL),
            other => vec![other.name()],
        };
        match self {
            Self::Any => Vec::new(),
            Self::Verdicts(wanted) => verdicts(wanted),
            Self::States(states) => {
                states.iter().filter(|state| state.is_terminal()).flat_map(of_state).collect()
            }
        }
    }

    /// The states of runs that have not ended.
    pub(crate) fn going_on(&self) -> Vec<&'static str> {
        match self {
            Self::Any | Self::Verdicts(_) => Vec::new(),
            Self::States(states) => {
                states.iter().filter(|state| !state.is_terminal()).map(|state| state.name()).collect()
            }
        }
    }
}

/// The latest of what was found in several places.
pub(crate) fn merged(mut found: Vec<Found>, limit: u32) -> Vec<Found> {
    let number = |found: &Found| match found {
        Ok(record) => record.number,
        Err(unreadable) => unreadable.number,
    };
    found.sort_by_key(|found| Reverse(number(found)));
    found.dedup_by_key(|found| number(found));
    found.truncate(limit as usize);
    found
}
