//! Rows that cannot be read, the same on every database.

use trueup_events::TenantId;
use trueup_lifecycle::Status;
use trueup_store::{NewRun, RunFilter, Store};

/// Damages runs by their numbers, and checks that the others are found all the same.
pub(crate) async fn holds_up_no_other(
    store: &Store,
    tenant_id: TenantId,
    wish: impl Fn() -> NewRun,
    damage: impl AsyncFn(&str),
) {
    for _ in 0..4 {
        store.trigger(wish()).await.unwrap();
    }
    damage("1, 2").await;
    let claimed = store.claim_for_scheduling("e", 1).await.unwrap();
    assert_eq!(claimed.iter().map(|one| one.record.number).collect::<Vec<_>>(), [3]);
    let claimed: Vec<_> =
        claimed.into_iter().chain(store.claim_for_scheduling("e", 9).await.unwrap()).collect();
    for one in claimed {
        store.hand_off(one.claim).await.unwrap();
    }
    damage("3").await;
    let taken = store.take("w", 1).await.unwrap();
    assert_eq!(taken.iter().map(|one| one.record.number).collect::<Vec<_>>(), [4]);
    store.trigger(wish()).await.unwrap();
    // A page is full in spite of them, and has no more than was asked for.
    let table = [
        (vec![], 2, vec![5, 4]),
        (vec![], 9, vec![5, 4]),
        (vec![], 1, vec![5]),
        (vec![Status::Requested], 1, vec![5]),
        (vec![Status::Requested, Status::Scheduled, Status::Running], 2, vec![5, 4]),
    ];
    for (statuses, limit, expected) in table {
        let filter = RunFilter { statuses, ..RunFilter::of(tenant_id, limit) };
        let listed = store.runs(&filter).await.unwrap();
        assert_eq!(listed.iter().map(|record| record.number).collect::<Vec<_>>(), expected, "{filter:?}");
        let before = store.runs(&RunFilter { before: Some(4), limit: 1, ..filter }).await.unwrap();
        assert_eq!(before, [], "nothing can be read before that");
    }
}
