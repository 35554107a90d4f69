//! Adding to the log.

use trueup_events::{Event, EventType, Kind, RunId};

use crate::context::Context;
use crate::error::StoreError;
use crate::tx::{Tx, Verb};

pub(crate) struct AppendEvents {
    pub(crate) events: Vec<Event>,
}

impl Verb for AppendEvents {
    type Output = ();
    const DOING: &'static str = "appending events";

    async fn apply<T: Tx>(&self, tx: &mut T, _: &Context) -> Result<(), StoreError> {
        let reserved = |event: &&Event| {
            let kind = event.name.event_type().map(EventType::kind);
            matches!(event.run_id, RunId::Uuid(_))
                && matches!(kind, Some(Kind::Platform | Kind::Audit | Kind::Execution))
        };
        match self.events.iter().find(reserved) {
            Some(event) => Err(StoreError::Reserved { name: event.name.to_string() }),
            None => tx.append(&self.events).await,
        }
    }
}
