//! The verbs: each is one transaction over one or a few runs, the same for either database.

mod answer;
mod attempt;
mod cancel;
mod connection;
mod find;
mod forget;
mod idempotency;
mod ingest;
mod job;
mod key;
mod observed;
mod one;
mod start;
mod submit;
mod sweep;
mod task;
mod tenant;
mod work;

pub(crate) use answer::Answer;
pub(crate) use attempt::{HandBack, Tell};
pub(crate) use cancel::RequestCancel;
pub(crate) use connection::{DeleteConnection, PutConnection};
pub(crate) use find::{readable, short_of};
pub(crate) use forget::{Forget, SweepFinished};
pub(crate) use idempotency::{ForgetAnswers, KeepAnswer};
pub(crate) use ingest::Ingest;
pub(crate) use job::{SaveJob, SetQueue};
pub(crate) use key::{Bootstrap, MakeKey, RevokeKey};
pub(crate) use observed::{CancelObserved, ForgetObserved};
pub(crate) use one::{ClaimRun, TakeRun};
pub(crate) use start::{Asked, Trigger};
pub(crate) use submit::{ClaimForScheduling, HandOff, Schedule, SubmitFailed};
pub(crate) use sweep::{Expire, Look, Silence, SweepStaleClaims, TakeOver, Withdrawn};
pub(crate) use task::{ForgetPasses, NextPause, NotePass};
pub(crate) use tenant::{EnsureTenant, MakeTenant};
pub(crate) use work::{Finish, Take};

use std::collections::HashMap;

use trueup_events::RunId;
use trueup_lifecycle::{Change, Refusal, Run, Settings};

use crate::context::Context;
use crate::error::StoreError;
use crate::record::Record;
use crate::tx::{Deed, Move, Tx};

/// Loads a run that should be there.
async fn existing<T: Tx>(tx: &mut T, id: RunId) -> Result<Record, StoreError> {
    tx.run(id).await?.ok_or(StoreError::NoSuchRun(id))
}

/// Loads a run, asks what becomes of it, and writes that.
async fn change<T: Tx>(
    tx: &mut T,
    context: &Context,
    id: RunId,
    deed: Deed<'_>,
    ask: impl FnOnce(&Run, i64, &Settings) -> Result<Change, Refusal> + Send,
) -> Result<Record, StoreError> {
    let record = existing(tx, id).await?;
    let now_ms = now_ms(tx, context).await?;
    let change = ask(&record.run, now_ms, context.settings())
        .map_err(|refusal| refused(refusal, id, deed.actor, context))?;
    let run = change.run.clone();
    if run != record.run {
        tx.write(&[Move::new(&record.run, change, context, deed, now_ms)]).await?;
    }
    Ok(Record { run, ..record })
}

/// A run, and what is to become of it.
struct Wish<'a, F> {
    run_id: RunId,
    deed: Deed<'a>,
    ask: F,
}

/// What became of a wish.
struct Granted {
    /// Whether the run had ended before.
    was_over: bool,
    /// What it is now.
    record: Record,
    /// Why that is what it was before.
    refusal: Option<StoreError>,
}

impl Granted {
    fn into_result(self) -> Result<Record, StoreError> {
        self.refusal.map_or(Ok(self.record), Err)
    }
}

/// Loads runs, asks of each what becomes of it, and writes that; one that refuses holds up no other.
async fn change_all<T: Tx, F>(
    tx: &mut T,
    context: &Context,
    wishes: Vec<Wish<'_, F>>,
) -> Result<Vec<Result<Granted, StoreError>>, StoreError>
where
    F: FnOnce(&Run, i64, &Settings) -> Result<Change, Refusal> + Send,
{
    let ids: Vec<RunId> = wishes.iter().map(|wish| wish.run_id).collect();
    let loaded = tx.runs(&ids).await?;
    let mut records: HashMap<RunId, Record> =
        loaded.into_iter().map(|record| (record.id(), record)).collect();
    let now_ms = now_ms(tx, context).await?;
    let mut moves = Vec::new();
    let mut answers = Vec::new();
    for Wish { run_id, deed, ask } in wishes {
        // A run that is wished for twice at once is gone the second time, as one is that never was.
        let Some(record) = records.remove(&run_id) else {
            answers.push(Err(StoreError::NoSuchRun(run_id)));
            continue;
        };
        let was_over = record.run.state.status().is_terminal();
        answers.push(Ok(match ask(&record.run, now_ms, context.settings()) {
            Ok(change) => {
                let run = change.run.clone();
                if run != record.run {
                    moves.push(Move::new(&record.run, change, context, deed, now_ms));
                }
                Granted { was_over, record: Record { run, ..record }, refusal: None }
            }
            Err(refusal) => {
                let refusal = Some(refused(refusal, run_id, deed.actor, context));
                Granted { was_over, record, refusal }
            }
        }));
    }
    tx.write(&moves).await?;
    Ok(answers)
}

/// The time that counts: the database's, or the one set by hand.
async fn now_ms<T: Tx>(tx: &mut T, context: &Context) -> Result<i64, StoreError> {
    match context.options.clock.by_hand_ms() {
        Some(now_ms) => Ok(now_ms),
        None => tx.now_ms().await,
    }
}

/// Passes a refusal on; one that no race explains is counted and logged.
fn refused(refusal: Refusal, run_id: RunId, actor: &str, context: &Context) -> StoreError {
    if let Refusal::Illegal(illegal) = &refusal {
        context.count_illegal();
        tracing::warn!(%run_id, actor, state = %illegal.state, event = illegal.event, "illegal transition");
    }
    refusal.into()
}

/// Asks of each run that was found what becomes of it, writes that, and gives what was granted.
///
/// One that does not allow it after all is left to the next sweep, so that it holds up no other.
async fn change_each<T: Tx, G: Send>(
    tx: &mut T,
    context: &Context,
    found: Vec<Record>,
    deed: Deed<'_>,
    now_ms: i64,
    ask: impl Fn(&Run) -> Result<(Change, G), Refusal> + Send,
) -> Result<Vec<(G, Record)>, StoreError> {
    let (mut moves, mut granted) = (Vec::new(), Vec::new());
    for record in found {
        match ask(&record.run) {
            Ok((change, grant)) => {
                let run = change.run.clone();
                moves.push(Move::new(&record.run, change, context, deed, now_ms));
                granted.push((grant, Record { run, ..record }));
            }
            Err(refusal) => drop(refused(refusal, record.id(), deed.actor, context)),
        }
    }
    tx.write(&moves).await?;
    Ok(granted)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};
    use trueup_lifecycle::{Epoch, IllegalTransition, Status};

    use super::*;
    use crate::context::Options;

    /// Keeps what is logged.
    #[derive(Default, Clone)]
    struct Logged(Arc<Mutex<Vec<String>>>);

    impl Subscriber for Logged {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() <= Level::WARN
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            struct Fields(Vec<String>);
            impl Visit for Fields {
                fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
                    self.0.push(format!("{field}={value:?}"));
                }
            }
            let mut fields = Fields(Vec::new());
            event.record(&mut fields);
            self.0.lock().unwrap().push(fields.0.join(" "));
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn what_no_race_explains_is_counted_and_logged() {
        let context = Context::new(Options::default(), 0);
        let (status, epoch) = (Status::Running, Epoch(3));
        let illegal = IllegalTransition { state: Status::Requested, event: "expire" };
        let logged = Logged::default();
        tracing::subscriber::with_default(logged.clone(), || {
            for refusal in [
                Refusal::Lost { status, epoch },
                Refusal::Early { until_ms: 7 },
                Refusal::Overdue { deadline_at_ms: 7 },
                illegal.into(),
            ] {
                refused(refusal, RunId::Number(42), "sweep", &context);
            }
        });
        assert_eq!(context.illegal(), 1);
        let logged = logged.0.lock().unwrap();
        assert_eq!(logged.len(), 1);
        for words in ["illegal transition", "run_id=42", "sweep", "state=requested", "expire"] {
            assert!(logged[0].contains(words), "{words}: {logged:?}");
        }
    }
}
