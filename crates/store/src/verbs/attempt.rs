//! What a worker says of an attempt before it has ended, and how it lets go of one.

use trueup_events::{Event, Payload, Time};
use trueup_lifecycle::{Cancel, Lease};

use super::{change, existing, now_ms, refused};
use crate::context::Context;
use crate::error::StoreError;
use crate::record::Record;
use crate::tx::{Deed, Move, Tx, Verb};

/// Prolongs a worker's lease, and appends what it has to tell.
pub(crate) struct Tell {
    pub(crate) lease: Lease,
    pub(crate) told: Vec<(Time, Payload)>,
}

impl Verb for Tell {
    type Output = Option<Cancel>;
    const DOING: &'static str = "telling how a run goes on";
    const IS_URGENT: bool = true;

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Option<Cancel>, StoreError> {
        let record = existing(tx, self.lease.run_id()).await?;
        let now_ms = now_ms(tx, context).await?;
        let change = record
            .run
            .heartbeat(&self.lease, now_ms, context.settings())
            .map_err(|refusal| refused(refusal, self.lease.run_id(), self.lease.worker(), context))?;
        let cancel = change.run.cancel.clone();
        let event = |(time, payload): &(Time, Payload)| -> Event {
            context.event(&record.run.ids, payload, time.clone(), now_ms)
        };
        let events: Vec<Event> = self.told.iter().map(event).collect();
        tx.write(&[Move { before: record.run, after: change.run, notes: Vec::new() }]).await?;
        tx.append(&events).await.map_err(|error| match error {
            // The ids are ours to choose, so that others will do.
            StoreError::EventDiffers(_) => StoreError::EventIdTaken { doing: Self::DOING },
            other => other,
        })?;
        Ok(cancel)
    }
}

pub(crate) struct HandBack {
    pub(crate) lease: Lease,
}

impl Verb for HandBack {
    type Output = Record;
    const DOING: &'static str = "handing a run back";
    const IS_URGENT: bool = true;

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Record, StoreError> {
        let deed = Deed { actor: self.lease.worker(), action: "hand_back" };
        change(tx, context, self.lease.run_id(), deed, |run, now_ms, settings| {
            run.hand_back(&self.lease, now_ms, settings)
        })
        .await
    }
}
