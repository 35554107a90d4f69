//! Adding to the log.

use std::collections::{HashMap, HashSet};

use trueup_events::{Event, EventType, Kind, RunId, TenantId};

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
        if let Some(event) = self.events.iter().find(reserved) {
            return Err(StoreError::Reserved { name: event.name.to_string() });
        }
        self.refuse_strangers(tx).await?;
        tx.append(&self.events).await
    }
}

impl AppendEvents {
    /// Refuses what one tenant tells of another's run: they are told the same as if it did not exist.
    async fn refuse_strangers<T: Tx>(&self, tx: &mut T) -> Result<(), StoreError> {
        let own = self.events.iter().filter(|event| matches!(event.run_id, RunId::Uuid(_)));
        let runs: HashSet<RunId> = own.clone().map(|event| event.run_id).collect();
        if runs.is_empty() {
            return Ok(());
        }
        let tenants = tx.tenants_of(&Vec::from_iter(runs)).await?;
        let tenants: HashMap<RunId, TenantId> = tenants.into_iter().collect();
        let is_strange = |event: &&Event| tenants.get(&event.run_id).is_some_and(|id| *id != event.tenant_id);
        match own.clone().find(is_strange) {
            Some(event) => Err(StoreError::NoSuchRun(event.run_id)),
            None => Ok(()),
        }
    }
}
