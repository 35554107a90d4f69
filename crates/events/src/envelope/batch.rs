//! Many events of one execution in one request: exactly as many single ones, all taken or none.

use serde_json::{Map, Value};

use super::{Envelope, parse};
use crate::id::RunId;
use crate::problem::Problem;

/// Reads the events of a batch, in order; the first that is malformed is named, and none is taken.
///
/// The execution holds for every event, the worker for those that name no other, and whatever else the batch says is kept in
/// the `meta` of each.
pub fn read_batch(body: &[u8], events_max: usize) -> Result<Vec<Envelope>, Problem> {
    let Value::Object(mut batch) = parse(body)? else {
        return Err(Problem::new(422, "a batch must be an object"));
    };
    let Some(Value::Array(events)) = batch.remove("events") else {
        return Err(Problem::of_field("events", "must be a list of events"));
    };
    if events.len() > events_max {
        let problem = format!("the batch has {} events, at most {events_max} are taken", events.len());
        return Err(Problem { field: Some("events".to_owned()), ..Problem::new(413, problem) });
    }
    let shared = Shared {
        execution_id: batch.remove("execution_id").filter(|id| !id.is_null()),
        worker_id: batch.remove("worker_id"),
        rest: batch,
    };
    let singles = events.into_iter().enumerate();
    singles.map(|(index, event)| shared.read(event).map_err(|problem| problem.in_batch(index))).collect()
}

/// What a batch says once for all its events.
struct Shared {
    execution_id: Option<Value>,
    worker_id: Option<Value>,
    rest: Map<String, Value>,
}

impl Shared {
    fn read(&self, mut event: Value) -> Result<Envelope, Problem> {
        if let Value::Object(fields) = &mut event {
            for (name, value) in [("execution_id", &self.execution_id), ("worker_id", &self.worker_id)] {
                let is_absent = fields.get(name).is_none_or(Value::is_null);
                if let (true, Some(value)) = (is_absent, value) {
                    fields.insert(name.to_owned(), value.clone());
                }
            }
        }
        let mut envelope = Envelope::from_json(event)?;
        let execution_id = self.execution_id.as_ref().map(RunId::from_json);
        if execution_id.is_some_and(|id| id != Ok(envelope.execution_id)) {
            return Err(Problem::of_field("execution_id", "must be that of the batch"));
        }
        for (name, value) in &self.rest {
            envelope.details.meta.entry(name.clone()).or_insert_with(|| value.clone());
        }
        Ok(envelope)
    }
}
