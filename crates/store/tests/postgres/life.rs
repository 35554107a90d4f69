//! A run's whole life, and what is told of it.

use trueup_events::outcome::{Outcome, Verdict};
use trueup_lifecycle::Report;
use trueup_store::Finish;

use crate::database::{database, open, tenant, wish};

#[tokio::test]
async fn a_life_is_told_in_order() {
    let store = open(&database()).await;
    let tenant_id = tenant(&store).await;
    let run_id = store.trigger(wish(tenant_id)).await.unwrap();
    let claimed = store.claim_for_scheduling("e1", 10).await.unwrap().remove(0);
    assert_eq!(claimed.record.id(), run_id);
    store.hand_off(claimed.claim).await.unwrap();
    let taken = store.take("w1", 10).await.unwrap().remove(0);
    assert_eq!(store.heartbeat(&taken.lease).await.unwrap(), None);
    let finish = store.finish(taken.lease, Report::Ended(Outcome::Result(Verdict::Matched))).await.unwrap();
    assert!(matches!(finish, Finish::Accepted(_)), "{finish:?}");

    let log = store.read_from(0, None, 100).await.unwrap();
    let names: Vec<&str> = log.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names.first(), Some(&"run.triggered"));
    assert!(names.contains(&"run.finalised"), "{names:?}");
    let positions: Vec<u64> = log.iter().map(|event| event.position.unwrap()).collect();
    assert_eq!(positions, (1..=log.len() as u64).collect::<Vec<_>>());
    assert_eq!(store.events_of(tenant_id, run_id, 0, 100).await.unwrap(), log);

    let audited = store.verify_audit(None).await.unwrap();
    assert_eq!((audited.unlinked, audited.fault), (0, None));
    assert!(audited.entries > 4);
    store.close().await.unwrap();
}
