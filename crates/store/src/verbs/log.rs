//! Adding to the log.

use trueup_events::Event;

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
        tx.append(&self.events).await
    }
}
