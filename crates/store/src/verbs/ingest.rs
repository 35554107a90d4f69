//! Events from outside: they are kept, and move what nobody here owns.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use trueup_events::{Event, EventId, EventType, Kind, Mark, RunId, TenantId};

use super::now_ms;
use crate::context::Context;
use crate::error::StoreError;
use crate::observed::{Ingested, Observed};
use crate::tx::{Owner, Subjects, Tx, Verb};

/// Appends events of one tenant, all or none, and moves the observed executions that they are about.
pub(crate) struct Ingest {
    pub(crate) tenant_id: TenantId,
    pub(crate) events: Vec<Event>,
}

impl Verb for Ingest {
    type Output = Vec<Ingested>;
    const DOING: &'static str = "taking events in";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Vec<Ingested>, StoreError> {
        let mut events = self.distinct()?;
        let ids: Vec<RunId> =
            events.iter().map(|event| event.run_id).collect::<BTreeSet<_>>().into_iter().collect();
        let subjects = tx.subjects(self.tenant_id, &ids).await?;
        let now_ms = now_ms(tx, context).await?;
        let observed = self.mark(&mut events, subjects, now_ms)?;
        let repeated: HashSet<EventId> = tx.append(&events).await?.into_iter().collect();
        let is_new = |event: &Event| !repeated.contains(&event.event_id);
        let moved: HashSet<RunId> =
            events.iter().filter(|event| is_new(event)).map(|event| event.run_id).collect();
        for one in observed.into_values().filter(|one| moved.contains(&one.id)) {
            tx.put_observed(&one.changed(now_ms), None).await?;
        }
        let marks: HashMap<EventId, Option<Mark>> =
            events.iter().filter(|event| is_new(event)).map(|event| (event.event_id, event.mark)).collect();
        Ok(self.answers(marks))
    }
}

impl Ingest {
    /// The events without those that come twice at once, which have to say the same both times.
    fn distinct(&self) -> Result<Vec<Event>, StoreError> {
        let mut given: HashMap<EventId, &Event> = HashMap::with_capacity(self.events.len());
        let mut distinct = Vec::with_capacity(self.events.len());
        for event in &self.events {
            if event.tenant_id != self.tenant_id {
                return Err(StoreError::NoSuchRun(event.run_id));
            }
            match given.insert(event.event_id, event) {
                None => distinct.push(event.clone()),
                Some(before) if before.says_the_same(event) => {}
                Some(_) => return Err(StoreError::EventDiffers(event.event_id)),
            }
        }
        Ok(distinct)
    }

    /// Marks what moves nothing, and gives the executions that the others are about as they then are.
    fn mark(
        &self,
        events: &mut [Event],
        subjects: Subjects,
        now_ms: i64,
    ) -> Result<BTreeMap<RunId, Observed>, StoreError> {
        // Another tenant's run is none of theirs: they are told the same as if it did not exist.
        if let Some(run) = subjects.runs.iter().find(|run| run.tenant_id != self.tenant_id) {
            return Err(StoreError::NoSuchRun(run.run_id));
        }
        let runs: HashMap<RunId, Owner> = subjects.runs.into_iter().map(|run| (run.run_id, run)).collect();
        let mut observed: BTreeMap<RunId, Observed> =
            subjects.observed.into_iter().map(|one| (one.id, one)).collect();
        let mut heard_of = BTreeSet::new();
        for event in events {
            let id = event.run_id;
            if let Some(run) = runs.get(&id) {
                event.mark = of_a_run(event, run.is_over);
                continue;
            }
            let one = observed.entry(id).or_insert_with(|| Observed::opened(self.tenant_id, id, now_ms));
            event.mark = one.seen.observe(event);
            if event.mark != Some(Mark::Stale) {
                heard_of.insert(id);
            }
        }
        observed.retain(|id, _| heard_of.contains(id));
        Ok(observed)
    }

    /// What became of each; one that the log had before is not among the marks, and of those that come twice the first is the new one.
    fn answers(&self, mut marks: HashMap<EventId, Option<Mark>>) -> Vec<Ingested> {
        let answer = |event: &Event| {
            let mark = marks.remove(&event.event_id);
            Ingested { event_id: event.event_id, is_new: mark.is_some(), mark: mark.flatten() }
        };
        self.events.iter().map(answer).collect()
    }
}

/// Why an event from outside moves no run of ours: that has an owner, and what becomes of it is told by the change itself.
fn of_a_run(event: &Event, is_over: bool) -> Option<Mark> {
    let kind = event.name.event_type().map(EventType::kind);
    let is_theirs = matches!(kind, None | Some(Kind::Progress));
    let is_noted = || event.details.as_ref().is_some_and(|details| !details.actionable);
    if !is_theirs {
        Some(Mark::Illegal)
    } else if is_over {
        Some(Mark::Stale)
    } else {
        is_noted().then_some(Mark::Noted)
    }
}
