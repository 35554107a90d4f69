//! One entry of the log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::id::{JobId, RunId, TenantId};
use crate::mask::mask_texts;
use crate::payload::{Ids, Payload};
use crate::snowflake::EventId;
use crate::time::Time;
use crate::vocabulary::{EventName, Origin};
use crate::word::words;

/// The extension that keeps an event's place in another log.
pub(crate) const ORIGIN_SEQUENCE: &str = "originsequence";
/// The extension that keeps what another log marked it as.
pub(crate) const ORIGIN_MARK: &str = "originmark";

/// The `source` of events, by who says them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    /// Of the server.
    pub core: String,
    /// Of the worker side.
    pub worker: String,
}

impl Default for Sources {
    fn default() -> Self {
        Self { core: "/datarecs/core-api".to_owned(), worker: "/datarecs/reconciliation-worker".to_owned() }
    }
}

impl Sources {
    /// The source of an origin.
    pub fn of(&self, origin: Origin) -> &str {
        match origin {
            Origin::Core => &self.core,
            Origin::Worker => &self.worker,
        }
    }
}

/// Something that happened; never changed once it is in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its id, made by whoever says it.
    pub event_id: EventId,
    /// Its place in the log, once it has one.
    pub position: Option<u64>,
    /// Whose run it is about.
    pub tenant_id: TenantId,
    /// The run that it is about.
    pub run_id: RunId,
    /// What it is called: its `type`.
    pub name: EventName,
    /// Who says it.
    pub source: String,
    /// When it happened, by the clock where it happened.
    pub time: Time,
    /// Whether that is the time of arrival instead, because the producer gave none.
    pub stamped_here: bool,
    /// What it says; integers of 64 bits are exact, other numbers are the nearest `f64`.
    pub data: Value,
    /// The event that led to it.
    pub causation_id: Option<EventId>,
    /// The trace that it belongs to.
    pub traceparent: Option<String>,
    /// Attributes of a CloudEvent that are not ours.
    pub extensions: BTreeMap<String, Value>,
    /// What the ingest envelope says beyond that; none for events of our own making.
    pub details: Option<Box<Details>>,
    /// Why it is only kept and moves nothing; the log says so of what comes from outside, no producer does.
    pub mark: Option<Mark>,
}

words! {
    /// Why an event from outside moves nothing.
    Mark {
        /// It tells of a run what only the store may tell, in the change that it tells of.
        Illegal = "illegal",
        /// What it is about had ended before.
        Stale = "stale",
        /// Its producer says that it is only to be read.
        Noted = "noted",
    }
}

/// What an event from outside says about itself, beside its payload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Details {
    /// The step that it is about.
    pub step: String,
    /// What it says about that step.
    pub status: Status,
    /// Who did the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<String>,
    /// Where the result is.
    #[serde(flatten)]
    pub result: ResultKind,
    /// Whether it may drive the run on.
    pub actionable: bool,
    /// Whether it is kept for people to read.
    pub informative: bool,
    /// What the producer says about the event, and fields that nobody here knows.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

words! {
    /// What an event says about its step.
    Status {
        /// It began.
        Started = "STARTED",
        /// It is under way.
        Running = "RUNNING",
        /// It came to its end.
        Completed = "COMPLETED",
        /// It did not.
        Failed = "FAILED",
        /// It was called off.
        Cancelled = "CANCELLED",
    }
}

/// Where the result of a step is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result_kind", rename_all = "lowercase")]
pub enum ResultKind {
    /// In the payload.
    Data,
    /// Behind an address.
    Ref {
        /// The address.
        result_uri: String,
    },
    /// In other events.
    Refs {
        /// Those events.
        event_ids: Vec<EventId>,
    },
}

impl Event {
    /// Says something of our own about a run, from the default source of its type, with its secrets masked.
    pub fn new(event_id: EventId, time: Time, ids: &Ids, payload: &Payload, sources: &Sources) -> Self {
        let event_type = payload.event_type();
        let mut data = payload.data(ids);
        mask_texts(&mut data);
        Self {
            event_id,
            position: None,
            tenant_id: ids.tenant_id,
            run_id: ids.run_id,
            name: event_type.into(),
            source: sources.of(event_type.origin()).to_owned(),
            time,
            stamped_here: false,
            data,
            causation_id: None,
            traceparent: None,
            extensions: BTreeMap::new(),
            details: None,
            mark: None,
        }
    }

    /// Says something of our own about an execution that something else started, which has no job here.
    pub fn of_observed(
        event_id: EventId,
        time: Time,
        (tenant_id, run_id): (TenantId, RunId),
        payload: &Payload,
        sources: &Sources,
    ) -> Self {
        let ids = Ids { run_id, job_id: JobId(Uuid::nil()), tenant_id };
        let mut event = Self::new(event_id, time, &ids, payload, sources);
        if let Value::Object(data) = &mut event.data {
            data.remove("job_id");
        }
        event
    }

    /// Whether another event with the same id says the same, so that a repetition adds nothing.
    ///
    /// The place in the log, or in another that it went through, is no part of what an event says, nor is the trace of the request that carried it, nor a time
    /// that was stamped on arrival, nor how the log marked it.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let stamped_here = self.stamped_here || other.stamped_here;
        let content = |event: &Self| {
            let time = if stamped_here { Time::from_unix_us(0) } else { event.time.clone() };
            let mut event =
                Self { position: None, traceparent: None, mark: None, time, stamped_here, ..event.clone() };
            for origin in [ORIGIN_SEQUENCE, ORIGIN_MARK] {
                event.extensions.remove(origin);
            }
            event
        };
        content(self) == content(other)
    }
}

#[cfg(test)]
mod tests {
    use crate::outcome::Verdict;
    use crate::payload::{CancelRequested, Completed};

    use super::*;

    fn ids() -> Ids {
        Ids {
            run_id: "3f0c1f5e-7d0b-4a55-9a6f-1f6f1a2b3c4d".parse().unwrap(),
            job_id: "9b7e4c1a-2f44-4b1d-8c07-5a1b2c3d4e5f".parse().unwrap(),
            tenant_id: "0a1b2c3d-4e5f-4607-8899-aabbccddeeff".parse().unwrap(),
        }
    }

    fn told(payload: &Payload) -> Event {
        let (id, time) = (EventId::new(7).unwrap(), "2026-07-01T12:00:00Z".parse().unwrap());
        Event::new(id, time, &ids(), payload, &Sources::default())
    }

    fn event() -> Event {
        let workflow_name = ids().run_id.workflow_name();
        told(&Completed { workflow_name, result: Verdict::Matched }.into())
    }

    #[test]
    fn an_event_of_ours_has_no_secret() {
        let reason = "ran with password=hunter2 by postgres://ann:hunter2@db, Bearer hunter2".to_owned();
        let event = told(&CancelRequested { cancelled_by: "ann".to_owned(), reason }.into());
        let masked = "ran with password=*** by postgres://ann:***@db, Bearer ***";
        assert_eq!((&event.data["reason"], &event.data["cancelled_by"]), (&masked.into(), &"ann".into()));
    }

    #[test]
    fn an_event_of_ours_carries_ids_and_source() {
        let event = event();
        assert_eq!(event.source, "/datarecs/reconciliation-worker");
        let data = r#"{"job_id":"9b7e4c1a-2f44-4b1d-8c07-5a1b2c3d4e5f","result":"MATCHED","run_id":"3f0c1f5e-7d0b-4a55-9a6f-1f6f1a2b3c4d","tenant_id":"0a1b2c3d-4e5f-4607-8899-aabbccddeeff","workflow_name":"r-3f0c1f5e-7d0b-4a55-9a6f-1f6f1a2b3c4d"}"#;
        assert_eq!(event.data.to_string(), data);
    }

    #[test]
    fn an_event_of_ours_about_another_systems_execution_names_no_job() {
        let (id, time) = (EventId::new(7).unwrap(), "2026-07-01T12:00:00Z".parse().unwrap());
        let payload = CancelRequested { cancelled_by: "ann".to_owned(), reason: "loop".to_owned() }.into();
        let of = (ids().tenant_id, RunId::Number(42));
        let event = Event::of_observed(id, time, of, &payload, &Sources::default());
        let data = r#"{"cancelled_by":"ann","reason":"loop","run_id":"42","tenant_id":"0a1b2c3d-4e5f-4607-8899-aabbccddeeff"}"#;
        assert_eq!((event.run_id, event.data.to_string().as_str()), (RunId::Number(42), data));
    }

    #[test]
    fn a_repetition_says_the_same() {
        let later = || "2026-07-01T12:00:01Z".parse().unwrap();
        let mut numbered = event();
        numbered.position = Some(9);
        numbered.traceparent = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned());
        let other_zone = Event { time: "2026-07-01T14:00:00+02:00".parse().unwrap(), ..event() };
        let stamped = Event { time: later(), stamped_here: true, ..event() };
        let relayed =
            Event { extensions: BTreeMap::from([(ORIGIN_SEQUENCE.to_owned(), "9".into())]), ..event() };
        let marked = Event { mark: Some(Mark::Stale), ..event() };
        for same in [event(), numbered, other_zone, stamped, relayed, marked] {
            assert!(event().says_the_same(&same), "{same:?}");
        }
        let at_another_time = Event { time: later(), ..event() };
        let of_another_type = Event { name: crate::EventType::Triggered.into(), ..event() };
        let with_other_data = Event { data: Value::Null, ..event() };
        for other in [at_another_time, of_another_type, with_other_data] {
            assert!(!event().says_the_same(&other), "{other:?}");
        }
    }
}
