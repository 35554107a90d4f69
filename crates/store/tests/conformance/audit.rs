//! The audit log.

use trueup_lifecycle::Report;

use crate::bench::Bench;

pub async fn every_change_is_in_the_audit_log(bench: Bench) {
    bench.log().await;
    let before = bench.store.verify_audit(None).await.unwrap();
    let lease = bench.running("revenue").await;
    bench.store.heartbeat(&lease).await.unwrap();
    bench.store.request_cancel(bench.tenant_id, lease.run_id(), "ann", None).await.unwrap();
    bench.store.finish(lease, Report::Stopped).await.unwrap();
    bench.log().await;
    let after = bench.store.verify_audit(None).await.unwrap();
    // Trigger, claim, hand-off, take, cancel, finish: a heartbeat changes nothing that anybody would ask about.
    assert_eq!(after.entries - before.entries, 6);
    assert_eq!((after.unlinked, after.fault), (0, None));
    assert_ne!(after.head, before.head);
}
