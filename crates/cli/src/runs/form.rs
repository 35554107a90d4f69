//! How runs are written, for people and as JSON.

use serde_json::{Map, Value, json};
use trueup_events::Time;
use trueup_events::outcome::{Outcome, Reason};
use trueup_lifecycle::{Ending, Finished, Hold, State};
use trueup_store::Record;

/// A time in milliseconds since 1970, to the second.
pub(crate) fn moment(ms: i64) -> String {
    Time::from_unix_us(ms.div_euclid(1000).saturating_mul(1_000_000)).to_string()
}

/// A length of time, in two units at most.
pub(crate) fn span(ms: i64) -> String {
    let ms = ms.max(0);
    let (seconds, minutes, hours, days) = (ms / 1000, ms / 60_000, ms / 3_600_000, ms / 86_400_000);
    match () {
        () if ms < 1000 => format!("{ms}ms"),
        () if seconds < 60 => format!("{}.{}s", seconds, ms % 1000 / 100),
        () if minutes < 60 => format!("{minutes}m{:02}s", seconds % 60),
        () if hours < 24 => format!("{hours}h{:02}m", minutes % 60),
        () => format!("{days}d{:02}h", hours % 24),
    }
}

/// How a run ended, in a word or two; empty while it has not.
pub(super) fn ending(record: &Record) -> String {
    match &record.run.state {
        State::Finished(Finished { ending: Ending::Concluded(Outcome::Result(verdict)), .. }) => {
            verdict.to_string()
        }
        State::Finished(Finished { ending: Ending::Concluded(Outcome::Error(error)), .. }) => {
            error.reason().map_or(error.code().name(), Reason::name).to_owned()
        }
        State::Finished(Finished { ending: Ending::Cancelled, .. }) => {
            let cancel = record.run.cancel.as_ref();
            cancel.map(|cancel| format!("by {}", cancel.by)).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// All that the row of a run says.
pub(crate) fn json(record: &Record, job: &str) -> Value {
    let run = &record.run;
    let fields = json!({
        "run_id": record.id(),
        "job": job,
        "job_id": run.ids.job_id,
        "tenant_id": run.ids.tenant_id,
        "revision": record.revision,
        "status": run.state.status().name(),
        "queue": record.queue,
        // What is no JSON fails the run, and is shown as it is.
        "params": serde_json::from_str(&record.params).unwrap_or_else(|_| Value::from(record.params.clone())),
        "mode": record.mode,
        "triggered_by": record.triggered_by,
        "requested_at": moment(record.requested_at_ms),
        "epoch": run.epoch.0,
        "deadline_ms": run.policy.deadline_ms,
        "retries": run.policy.retries,
    });
    let Value::Object(mut fields) = fields else { unreachable!("it was written as an object") };
    fields.append(&mut state(&run.state));
    if let Some(cancel) = &run.cancel {
        let (by, reason) = (&cancel.by, &cancel.reason);
        fields.insert("cancel".to_owned(), json!({ "by": by, "at": moment(cancel.at_ms), "reason": reason }));
    }
    if let Some(beside) = &run.beside {
        fields.insert("beside".to_owned(), json!(beside));
    }
    Value::Object(fields)
}

/// What is true of a run only in the state that it is in.
pub(super) fn state(state: &State) -> Map<String, Value> {
    let fields = match state {
        State::Requested => json!({}),
        State::Scheduling(scheduling) => {
            let hold = match &scheduling.hold {
                Hold::Claimed { executor, stale_at_ms } => {
                    json!({ "executor": executor, "claim_until": moment(*stale_at_ms) })
                }
                Hold::BackingOff { until_ms } => json!({ "pauses_until": moment(*until_ms) }),
            };
            let Value::Object(mut fields) = hold else { unreachable!("it was written as an object") };
            fields.insert("attempt".to_owned(), scheduling.attempt.into());
            fields.insert("submits".to_owned(), scheduling.submits.into());
            return fields;
        }
        State::Scheduled(scheduled) => json!({
            "attempt": scheduled.attempt,
            "submits": scheduled.submits,
            "scheduled_at": moment(scheduled.since_ms),
        }),
        State::Running(running) => json!({
            "attempt": running.attempt,
            "submits": running.submits,
            "worker": running.worker,
            "lease_until": moment(running.lease_until_ms),
            "deadline_at": moment(running.deadline_at_ms),
        }),
        State::Finished(Finished { at_ms, ending }) => {
            let finished_at = moment(*at_ms);
            match ending {
                Ending::Concluded(Outcome::Result(result)) => {
                    json!({ "finished_at": finished_at, "result": result })
                }
                Ending::Concluded(Outcome::Error(error)) => {
                    json!({ "finished_at": finished_at, "error": error })
                }
                Ending::Cancelled => json!({ "finished_at": finished_at }),
            }
        }
    };
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{moment, span};

    #[test]
    fn spans_are_short() {
        let table = [
            (-5, "0ms"),
            (999, "999ms"),
            (1_250, "1.2s"),
            (60_000, "1m00s"),
            (3_725_000, "1h02m"),
            (90_000_000, "1d01h"),
        ];
        for (ms, text) in table {
            assert_eq!(span(ms), text);
        }
    }

    #[test]
    fn moments_are_whole_seconds() {
        assert_eq!(moment(1_700_000_000_999), "2023-11-14T22:13:20Z");
        assert_eq!(moment(-1), "1969-12-31T23:59:59Z");
    }
}
