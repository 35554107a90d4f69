//! The worker's side: taking runs, staying alive, and saying how they ended.

use trueup_lifecycle::{Cancel, Lease, Refusal, Report, Run};

use super::find::find;
use super::{change, change_each, existing, now_ms, refused};
use crate::context::Context;
use crate::error::StoreError;
use crate::record::{self, Taken};
use crate::tx::{Deed, Move, Search, Tx, Verb};

pub(crate) struct Take {
    pub(crate) worker: String,
    pub(crate) limit: u32,
}

impl Verb for Take {
    type Output = Vec<Taken>;
    const DOING: &'static str = "taking runs";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Vec<Taken>, StoreError> {
        let now_ms = now_ms(tx, context).await?;
        let deed = Deed { actor: &self.worker, action: "take" };
        let found = find(tx, context, Search::ToTake { now_ms }, self.limit).await?;
        let take = |run: &Run| run.take(&self.worker, now_ms, context.settings());
        let taken = change_each(tx, context, found, deed, now_ms, take).await?;
        Ok(taken.into_iter().map(|(lease, record)| Taken { lease, record }).collect())
    }
}

pub(crate) struct Heartbeat {
    pub(crate) lease: Lease,
}

impl Verb for Heartbeat {
    type Output = Option<Cancel>;
    const DOING: &'static str = "prolonging a lease";
    const IS_URGENT: bool = true;

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Option<Cancel>, StoreError> {
        let record = existing(tx, self.lease.run_id()).await?;
        let now_ms = now_ms(tx, context).await?;
        let change = record
            .run
            .heartbeat(&self.lease, now_ms, context.settings())
            .map_err(|refusal| refused(refusal, record.id(), self.lease.worker(), context))?;
        let cancel = change.run.cancel.clone();
        tx.write(&[Move { before: record.run, after: change.run, note: None }]).await?;
        Ok(cancel)
    }
}

pub(crate) struct Finish {
    pub(crate) lease: Lease,
    pub(crate) report: Report,
}

impl Verb for Finish {
    type Output = record::Finish;
    const DOING: &'static str = "finishing a run";
    const IS_URGENT: bool = true;

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<record::Finish, StoreError> {
        let deed = Deed { actor: self.lease.worker(), action: "finish" };
        let mut was_over = false;
        let finished = change(tx, context, self.lease.run_id(), deed, |run, now_ms, settings| {
            was_over = run.state.status().is_terminal();
            run.report(&self.lease, &self.report, now_ms, settings)
        })
        .await;
        match finished {
            Ok(record) if was_over => Ok(record::Finish::Late(record)),
            Ok(record) => Ok(record::Finish::Accepted(record)),
            Err(StoreError::Refused(Refusal::Finished(_))) => {
                existing(tx, self.lease.run_id()).await.map(record::Finish::Late)
            }
            Err(error) => Err(error),
        }
    }
}
