//! The worker's side: taking runs, staying alive, and saying how they ended.

use trueup_lifecycle::{Lease, Refusal, Report, Run, Settings};

use super::find::find;
use super::{Granted, Wish, change_all, change_each, now_ms};
use crate::context::Context;
use crate::error::StoreError;
use crate::record::{self, Taken};
use crate::tx::{Deed, Search, Tx, Verb};

pub(crate) struct Take {
    pub(crate) worker: String,
    pub(crate) limit: u32,
}

impl Verb for Take {
    type Output = Vec<Taken>;
    const DOING: &'static str = "taking runs";

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Vec<Taken>, StoreError> {
        let by_hand_ms = context.options.clock.by_hand_ms();
        let found = find(tx, context, Search::ToTake { by_hand_ms }, self.limit).await?;
        let now_ms = now_ms(tx, context).await?;
        let deed = Deed { actor: &self.worker, action: "take" };
        let take = |run: &Run| run.take(&self.worker, now_ms, context.settings());
        let taken = change_each(tx, context, found, deed, now_ms, take).await?;
        Ok(taken.into_iter().map(|(lease, record)| Taken { lease, record }).collect())
    }
}

/// Ends the attempts that one worker reports of; one that refuses holds up no other.
pub(crate) struct Finish {
    pub(crate) reports: Vec<(Lease, Report)>,
}

impl Verb for Finish {
    type Output = Vec<Result<record::Finish, StoreError>>;
    const DOING: &'static str = "finishing runs";
    const IS_URGENT: bool = true;

    async fn apply<T: Tx>(&self, tx: &mut T, context: &Context) -> Result<Self::Output, StoreError> {
        let wishes = self.reports.iter().map(|(lease, report)| Wish {
            run_id: lease.run_id(),
            deed: Deed { actor: lease.worker(), action: "finish" },
            ask: move |run: &Run, now_ms: i64, settings: &Settings| {
                run.report(lease, report, now_ms, settings)
            },
        });
        let answers = change_all(tx, context, wishes.collect()).await?;
        let finish = |granted: Granted| match granted.refusal {
            Some(StoreError::Refused(Refusal::Finished(_))) => Ok(record::Finish::Late(granted.record)),
            Some(refusal) => Err(refusal),
            None if granted.was_over => Ok(record::Finish::Late(granted.record)),
            None => Ok(record::Finish::Accepted(granted.record)),
        };
        Ok(answers.into_iter().map(|answer| answer.and_then(finish)).collect())
    }
}
