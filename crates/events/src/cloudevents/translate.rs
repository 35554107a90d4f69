//! Between the events of the log and CloudEvents.

use serde_json::Value;

use super::{CloudError, CloudEvent, Data};
use crate::event::{Event, ORIGIN_MARK, ORIGIN_SEQUENCE};
use crate::id::{RunId, TenantId};
use crate::mask::{mask, mask_members};
use crate::payload::Payload;
use crate::snowflake::EventId;
use crate::time::Time;
use crate::vocabulary::{EventName, EventType};

/// The extension that says why an event moves nothing here.
const MARK: &str = "mark";

/// What is known of a message from elsewhere that the message does not say itself.
#[derive(Debug, Clone)]
pub struct Arrival<'a> {
    /// Whose it is, by who sent it.
    pub tenant_id: TenantId,
    /// When it came.
    pub now: Time,
    /// The configured prefix of types; the others are read too.
    pub prefix: &'a str,
}

impl CloudEvent {
    /// Says an event of the log in the terms of CloudEvents.
    pub fn of(event: &Event, prefix: &str) -> Self {
        let mut extensions = event.extensions.clone();
        let ours = [
            ("tenantid", Some(event.tenant_id.to_string())),
            ("sequence", event.position.map(|position| position.to_string())),
            ("causationid", event.causation_id.map(|id| id.to_string())),
            ("traceparent", event.traceparent.clone()),
            (MARK, event.mark.map(|mark| mark.to_string())),
        ];
        let present = ours.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
        extensions.extend(present);
        Self {
            id: event.event_id.to_string(),
            source: event.source.clone(),
            event_type: match &event.name {
                EventName::Ours(event_type) => format!("{prefix}{event_type}"),
                EventName::Foreign(name) => name.clone(),
            },
            subject: Some(event.run_id.to_string()),
            time: Some(event.time.clone()),
            datacontenttype: Some("application/json".to_owned()),
            dataschema: None,
            extensions,
            data: Some(Data::Json(event.data.clone())),
        }
    }

    /// Makes it an event of the log: checked if it is of a type of ours, and with its secrets masked.
    ///
    /// A producer whose ids are no numbers keeps them in the extension `originid`, its own `sequence` in `originsequence`, and its own `mark` in `originmark`.
    pub fn into_event(mut self, arrival: Arrival<'_>) -> Result<Event, CloudError> {
        self.check_tenant(arrival.tenant_id)?;
        let run_id = self.run_id()?;
        let name = match EventType::parse_with(arrival.prefix, &self.event_type) {
            Some(event_type) => EventName::Ours(event_type),
            None => EventName::Foreign(self.event_type.clone()),
        };
        let event_id = self.id.parse().unwrap_or_else(|_| {
            self.extensions.insert("originid".to_owned(), self.id.clone().into());
            EventId::derived(&self.source, &self.id)
        });
        let mut data = match self.data.take() {
            Some(Data::Json(value)) => value,
            None => Value::Object(serde_json::Map::new()),
            Some(_) => return Err(CloudError::attribute("datacontenttype", "must be JSON")),
        };
        if let EventName::Ours(event_type) = name {
            Payload::read(event_type, &data)
                .map_err(|error| CloudError::attribute("data", format!("is {error}")))?;
        }
        for (ours, origin) in [("sequence", ORIGIN_SEQUENCE), (MARK, ORIGIN_MARK)] {
            if let Some(value) = self.extensions.remove(ours) {
                self.extensions.entry(origin.to_owned()).or_insert(value);
            }
        }
        mask(&mut data);
        mask_members(&mut self.extensions);
        Ok(Event {
            event_id,
            position: None,
            tenant_id: arrival.tenant_id,
            run_id,
            name,
            source: self.source.clone(),
            stamped_here: self.time.is_none(),
            time: self.time.take().unwrap_or(arrival.now),
            data,
            causation_id: self.take_id("causationid"),
            traceparent: self.take_text("traceparent"),
            extensions: self.extensions,
            details: None,
            mark: None,
        })
    }

    /// Refuses an event that says it is another tenant's than its sender.
    fn check_tenant(&mut self, tenant_id: TenantId) -> Result<(), CloudError> {
        match self.take_text("tenantid") {
            Some(text) if text.parse() != Ok(tenant_id) => {
                Err(CloudError::attribute("tenantid", "must be the tenant that sends it"))
            }
            _ => Ok(()),
        }
    }

    /// The run it is about, by its subject or its data, which may not contradict each other.
    fn run_id(&self) -> Result<RunId, CloudError> {
        let subject = self.subject.as_deref().map(|text| {
            text.parse().map_err(|problem| CloudError::attribute("subject", format!("{problem}")))
        });
        let field = match &self.data {
            Some(Data::Json(data)) => data.get("run_id"),
            _ => None,
        };
        let named = field.map(|value| {
            RunId::from_json(value)
                .map_err(|problem| CloudError::attribute("data", format!("run_id {problem}")))
        });
        match (subject.transpose()?, named.transpose()?) {
            (Some(subject), Some(named)) if subject != named => {
                Err(CloudError::attribute("subject", format!("must be the run_id of the data, {named}")))
            }
            (Some(run_id), _) | (None, Some(run_id)) => Ok(run_id),
            (None, None) => Err(CloudError::Missing { attribute: "subject" }),
        }
    }

    /// Takes an extension of ours out; one that is no text stays with those that are not.
    fn take_text(&mut self, name: &str) -> Option<String> {
        let text = self.extensions.get(name)?.as_str()?.to_owned();
        self.extensions.remove(name);
        Some(text)
    }

    /// Takes the id of an event out; one that is none of ours stays with the extensions that are not.
    fn take_id(&mut self, name: &str) -> Option<EventId> {
        let value = self.extensions.get(name)?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        let id = EventId::new(number).ok()?;
        self.extensions.remove(name);
        Some(id)
    }
}
