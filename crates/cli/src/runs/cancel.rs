//! `trueup runs cancel`: ends a run, or asks its worker to.

use std::process::ExitCode;

use trueup_events::outcome::Outcome;
use trueup_lifecycle::{CancelAnswer, Ending, Refusal};
use trueup_store::StoreError;

use super::find;
use crate::arguments::Cancel;
use crate::failure::Failure;
use crate::{output, place, who};

/// Cancels a run and says what became of it.
pub(super) fn cancel(options: &Cancel) -> Result<ExitCode, Failure> {
    let (id, answer) = place::visit(&options.places, async |store, tenant_id| {
        let id = find(store, tenant_id, &options.run).await?.id();
        let asked = store.request_cancel(tenant_id, id, &who::user(), options.reason.as_deref()).await;
        match asked {
            Ok((_, answer)) => Ok((id, answer)),
            Err(StoreError::Refused(Refusal::Finished(finished))) => Err(Failure::usage_hint(
                format!("the run {id} has ended already: {}", told(&finished.ending)),
                "nothing was changed",
            )),
            Err(error) => Err(error.into()),
        }
    })?;
    output::say(&match answer {
        CancelAnswer::Cancelled => format!("{id} is cancelled\n"),
        CancelAnswer::Asked => {
            format!("{id} is running: its worker is told to stop, and says how it ended\n")
        }
    })
}

/// How a run ended, in a sentence.
fn told(ending: &Ending) -> String {
    let status = ending.status();
    match ending {
        Ending::Concluded(Outcome::Result(verdict)) => format!("it is {status} with {verdict}"),
        Ending::Concluded(Outcome::Error(error)) => format!("it ended as {status}: {error}"),
        Ending::Cancelled => format!("it is {status}"),
    }
}
