//! A whole life, and what is read of it.

use trueup_events::outcome::{Outcome, Verdict};
use trueup_events::{Event, EventId, RunId};
use trueup_lifecycle::{Report, Status};
use trueup_store::{Finish, Role, RunFilter, StoreError};

use crate::place::{folder, open, open_with_job, wish};

#[tokio::test]
async fn a_run_lives_and_is_remembered() {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    let run_id = store.trigger(wish(tenant_id)).await.unwrap();
    let claimed = store.claim_for_scheduling("executor", 10).await.unwrap().pop().unwrap();
    store.hand_off(claimed.claim).await.unwrap();
    let taken = store.take("worker", 10).await.unwrap().pop().unwrap();
    assert_eq!(store.heartbeat(&taken.lease).await.unwrap(), None);
    let report = Report::Ended(Outcome::Result(Verdict::Matched));
    let finish = store.finish(taken.lease, report).await.unwrap();
    assert!(matches!(finish, Finish::Accepted(_)));
    store.close().await.unwrap();

    let store = open(&folder, Role::Command).await;
    let record = store.run(tenant_id, run_id).await.unwrap().unwrap();
    assert_eq!(record.run.state.status(), Status::Completed);
    let events = store.read_from(0, Some(tenant_id), 100).await.unwrap();
    let positions: Vec<_> = events.iter().map(|event| event.position.unwrap()).collect();
    assert_eq!(positions, (1..=events.len() as u64).collect::<Vec<_>>());
    assert_eq!(store.events_of(tenant_id, run_id, 0, 100).await.unwrap(), events);
    assert_eq!(store.read_from(0, None, 100).await.unwrap(), events);
    let filter = RunFilter { statuses: vec![Status::Completed], ..RunFilter::of(tenant_id, 9) };
    assert_eq!(store.runs(&filter).await.unwrap(), [record]);
    let audited = store.verify_audit(None).await.unwrap();
    assert_eq!((audited.entries, audited.unlinked, audited.fault), (6, 0, None));
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_repetition_leaves_no_gap_in_the_log() {
    let folder = folder();
    let (store, tenant_id) = open_with_job(&folder).await;
    store.trigger(wish(tenant_id)).await.unwrap();
    let told = store.read_from(0, None, 100).await.unwrap();
    let elsewhere =
        |event: Event| Event { event_id: store.next_event_id(), run_id: RunId::Number(7), ..event };
    let events: Vec<_> = told.into_iter().map(elsewhere).collect();
    store.ingest(tenant_id, events.clone()).await.unwrap();
    store.ingest(tenant_id, events.clone()).await.unwrap();
    let mut other = events.clone();
    other[0].event_id = EventId::new(1).unwrap();
    other[1].source = "/elsewhere".to_owned();
    let refused = store.ingest(tenant_id, other).await.unwrap_err();
    assert!(matches!(refused, StoreError::EventDiffers(id) if id == events[1].event_id), "{refused:?}");
    store.trigger(wish(tenant_id)).await.unwrap();
    let positions: Vec<_> =
        store.read_from(0, None, 100).await.unwrap().iter().map(|event| event.position).collect();
    assert_eq!(positions, [1, 2, 3, 4, 5, 6].map(Some));
}
