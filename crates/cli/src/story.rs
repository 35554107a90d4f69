//! What the events of a run tell of its present attempt.

use trueup_events::comparison::{Completed, Tolerance};
use trueup_events::outcome::Verdict;
use trueup_events::payload::{Reading, RowsProcessed};
use trueup_events::{Event, Payload};
use trueup_lifecycle::Status;

/// An attempt so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Story {
    /// Its sources, in the order of the job.
    pub(crate) sources: Vec<Source>,
    /// Its stages that have begun.
    pub(crate) stages: Vec<Stage>,
    /// What the comparison came to.
    pub(crate) comparison: Option<Completed>,
}

/// A source that is read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Source {
    /// Its name, or number.
    pub(crate) name: String,
    /// How many rows it has, once it was read whole.
    pub(crate) rows: Option<u64>,
    /// What has come of it until then, if it is kept before it is compared.
    pub(crate) came: Option<Reading>,
    /// Why it could not be.
    pub(crate) error: Option<String>,
}

/// A stage that has begun.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stage {
    /// Its name.
    pub(crate) name: String,
    /// Rows that are done.
    pub(crate) rows: u64,
    /// Groups that do not match, once it has ended.
    pub(crate) unmatched: u64,
    /// What it found.
    pub(crate) result: Option<Verdict>,
    /// How each measure fared.
    pub(crate) tolerances: Vec<Tolerance>,
    /// Why it has no result.
    pub(crate) error: Option<String>,
}

impl Story {
    /// Hears one event more; those of others, those that count for nothing, and those that tell nothing of an attempt, add nothing.
    pub(crate) fn hear(&mut self, event: &Event) {
        let Some(event_type) = event.name.event_type().filter(|_| event.mark.is_none()) else { return };
        // What the log holds of our types was checked when it came in.
        if let Ok(payload) = Payload::read(event_type, &event.data) {
            self.hear_payload(payload);
        }
    }

    fn hear_payload(&mut self, payload: Payload) {
        match payload {
            // An attempt more starts from nothing.
            Payload::ExecutionStatusChanged(changed) if changed.state == Status::Running.name() => {
                *self = Self::default();
            }
            Payload::ExtractionStarted(started) => {
                let source = self.source(started.extraction_index);
                source.name = started.source_name.unwrap_or_else(|| source.name.clone());
            }
            Payload::ExtractionCompleted(completed) => {
                self.source(completed.extraction_index).rows = Some(completed.rows_extracted);
            }
            Payload::ExtractionErrored(errored) => {
                self.source(errored.extraction_index).error = Some(errored.error.message);
            }
            Payload::StageStarted(started) => drop(self.stage(&started.stage_name)),
            Payload::RowsProcessed(RowsProcessed { reading: Some(reading), .. }) => {
                self.source(reading.extraction_index).came = Some(reading);
            }
            Payload::RowsProcessed(processed) => {
                let stage = self.stage(&processed.stage_name);
                (stage.rows, stage.unmatched) = (processed.row_count, processed.mismatch_count);
            }
            Payload::StageCompleted(completed) => {
                let stage = self.stage(&completed.stage_name);
                stage.result = Some(completed.result);
                stage.tolerances = completed.tolerances;
            }
            Payload::StageErrored(errored) => {
                self.stage(&errored.stage_name).error = Some(errored.error.message);
            }
            Payload::ComparisonCompleted(completed) => self.comparison = Some(completed),
            _ => {}
        }
    }

    /// The last stage that has left breaks.
    pub(crate) fn broken_stage(&self) -> Option<&Stage> {
        self.stages.iter().rfind(|stage| stage.unmatched > 0)
    }

    /// The source of that number; one that was not heard of yet is called by it.
    fn source(&mut self, index: u32) -> &mut Source {
        let index = index as usize;
        while self.sources.len() <= index {
            let name = format!("source_{}", self.sources.len());
            self.sources.push(Source { name, rows: None, came: None, error: None });
        }
        &mut self.sources[index]
    }

    fn stage(&mut self, name: &str) -> &mut Stage {
        let known = self.stages.iter().position(|stage| stage.name == name);
        let index = known.unwrap_or_else(|| {
            let name = name.to_owned();
            let stage =
                Stage { name, rows: 0, unmatched: 0, result: None, tolerances: Vec::new(), error: None };
            self.stages.push(stage);
            self.stages.len() - 1
        });
        &mut self.stages[index]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trueup_events::envelope::Envelope;
    use trueup_events::{EventId, Mark, Time};

    use super::*;
    use crate::event_line::said;

    #[test]
    fn what_counts_for_nothing_is_shown_and_not_believed() {
        let body = json!({
            "execution_id": "3f0c1f5e-7d0b-4a55-9a6f-1f6f1a2b3c4d", "event_type": "run.stage.started", "step": "s",
            "payload": { "stage_name": "by-account" },
        });
        let tenant_id = "0a1b2c3d-4e5f-4607-8899-aabbccddeeff".parse().unwrap();
        let id = EventId::new(7).unwrap();
        let event =
            Envelope::from_json(body).unwrap().into_event(tenant_id, id, Time::from_unix_us(0), "/elsewhere");
        let marked = Event { mark: Some(Mark::Stale), ..event.clone() };
        let mut story = Story::default();
        story.hear(&marked);
        assert_eq!((&story, said(&marked).as_str()), (&Story::default(), "(stale) stage_name=by-account"));
        story.hear(&event);
        assert_eq!((story.stages.len(), said(&event).as_str()), (1, "stage_name=by-account"));
    }
}
