//! The fields of an envelope, taken out one by one under each of their names.

use std::fmt::Display;

use serde_json::{Map, Value};

use crate::event::ResultKind;
use crate::problem::Problem;
use crate::snowflake::EventId;
use crate::time::Time;
use crate::vocabulary::EventName;

/// The fields that have not been taken yet; null is the same as absent.
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    pub(super) fn new(mut members: Map<String, Value>) -> Self {
        members.retain(|_, value| !value.is_null());
        Self(members)
    }

    /// Takes a field that has two names; both may be there if they say the same.
    pub(super) fn take(&mut self, name: &str, alias: &str) -> Result<Option<Value>, Problem> {
        match (self.0.remove(name), self.0.remove(alias)) {
            (Some(value), Some(other)) if value != other => {
                Err(Problem::of_field(name, format!("and its alias `{alias}` say different things")))
            }
            (value, other) => Ok(value.or(other)),
        }
    }

    pub(super) fn optional<T, E: Display>(
        &mut self,
        name: &str,
        read: impl FnOnce(&Value) -> Result<T, E>,
    ) -> Result<Option<T>, Problem> {
        let value = self.0.remove(name);
        value.map(|value| read(&value).map_err(|problem| Problem::of_field(name, problem))).transpose()
    }

    pub(super) fn required<T, E: Display>(
        &mut self,
        name: &str,
        read: impl FnOnce(&Value) -> Result<T, E>,
    ) -> Result<T, Problem> {
        self.optional(name, read)?.ok_or_else(|| Problem::of_field(name, "is missing"))
    }

    pub(super) fn optional_text(&mut self, name: &str) -> Result<Option<String>, Problem> {
        self.optional(name, text)
    }

    pub(super) fn required_text(&mut self, name: &str, alias: &str) -> Result<String, Problem> {
        let value = self.take(name, alias)?.ok_or_else(|| Problem::of_field(name, "is missing"))?;
        text(&value).map_err(|problem| Problem::of_field(name, problem))
    }

    pub(super) fn event_type(&mut self) -> Result<EventName, Problem> {
        let name = self.required_text("event_type", "name")?;
        if name.is_empty() {
            return Err(Problem::of_field("event_type", "is empty"));
        }
        Ok(name.as_str().into())
    }

    /// Takes a truth value; absent it is true.
    pub(super) fn flag(&mut self, name: &str) -> Result<bool, Problem> {
        let read = |value: &Value| value.as_bool().ok_or("must be true or false");
        Ok(self.optional(name, read)?.unwrap_or(true))
    }

    pub(super) fn time(&mut self, name: &str) -> Result<Option<Time>, Problem> {
        self.optional(name, |value| value.as_str().unwrap_or_default().parse::<Time>())
    }

    /// Takes the kind of result and what it needs; what another kind would need stays where it is.
    pub(super) fn result(&mut self) -> Result<ResultKind, Problem> {
        match self.optional_text("result_kind")?.as_deref() {
            None | Some("data") => Ok(ResultKind::Data),
            Some("ref") => Ok(ResultKind::Ref { result_uri: self.required("result_uri", text)? }),
            Some("refs") => Ok(ResultKind::Refs { event_ids: self.required("event_ids", event_ids)? }),
            Some(_) => Err(Problem::of_field("result_kind", "must be data, ref or refs")),
        }
    }

    /// What is left joins `meta`, under the same names.
    pub(super) fn into_meta(mut self) -> Result<Map<String, Value>, Problem> {
        let object = |value: &Value| value.as_object().cloned().ok_or("must be an object");
        let mut meta = self.optional("meta", object)?.unwrap_or_default();
        for (name, value) in self.0 {
            let known = meta.entry(name.clone()).or_insert_with(|| value.clone());
            if *known != value {
                return Err(Problem::of_field(&name, "is in `meta` too, with another value"));
            }
        }
        Ok(meta)
    }
}

fn text(value: &Value) -> Result<String, &'static str> {
    value.as_str().map(str::to_owned).ok_or("must be text")
}

fn event_ids(value: &Value) -> Result<Vec<EventId>, String> {
    let ids = value.as_array().filter(|ids| !ids.is_empty()).ok_or("must be a list of ids")?;
    ids.iter().map(|id| EventId::from_json(id).map_err(|problem| format!("each {problem}"))).collect()
}
