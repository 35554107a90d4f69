//! The audit log.

use serde_json::json;
use trueup_lifecycle::{Limits, Report};
use trueup_store::{Audit, Entry};

use crate::bench::{Bench, START_MS};

pub(crate) async fn every_change_is_in_the_audit_log(bench: Bench) {
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

pub(crate) async fn the_audit_log_can_be_read(bench: Bench) {
    let run_id = bench.trigger("revenue").await;
    let other = bench.store.tenant("globex").await.unwrap();
    bench.store.set_queue(other, "night", Limits::default(), "bob").await.unwrap();
    bench.store.request_cancel(bench.tenant_id, run_id, "ann", Some("wrong month")).await.unwrap();
    let said = |audit: &Audit| {
        let Entry { actor, action, .. } = &audit.entry;
        (audit.number, actor.clone(), action.to_string())
    };
    let all = bench.store.audit(0, None, 100).await.unwrap();
    let expected = [("ann", "save_job"), ("ann", "trigger"), ("bob", "set_queue"), ("ann", "request_cancel")];
    let expected: Vec<_> = (1..)
        .zip(expected)
        .map(|(number, (actor, action))| (number, actor.to_owned(), action.to_owned()))
        .collect();
    assert_eq!(all.iter().map(said).collect::<Vec<_>>(), expected);
    let Entry { at_ms, tenant_id, subject, detail, .. } = &all[3].entry;
    assert_eq!((*at_ms, *tenant_id, subject), (START_MS, bench.tenant_id, &run_id.to_string()));
    assert_eq!(*detail, json!({ "from": "requested", "to": "cancelled", "epoch": 0 }));

    assert_eq!(bench.store.audit(1, None, 2).await.unwrap(), all[1..3]);
    assert_eq!(bench.store.audit(0, Some(other), 9).await.unwrap(), all[2..3]);
    assert_eq!(bench.store.audit(2, Some(bench.tenant_id), 9).await.unwrap(), all[3..]);
    assert_eq!(bench.store.audit(4, None, 9).await.unwrap(), []);
}
