//! What texts can be kept.

use serde_json::json;
use trueup_events::{Event, TenantId};
use trueup_lifecycle::{Limits, Policy};
use trueup_store::{Answer, Expected, JobDocument, KeyRole, NewConnection, NewKey, NewRun, StoreError};
use uuid::Uuid;

use crate::bench::Bench;

const NUL: &str = "a\0b";

/// Checks that each was refused, and what for.
fn are_refused<const N: usize>(table: [(&str, Option<StoreError>); N]) {
    for (field, refused) in table {
        assert!(
            matches!(refused, Some(StoreError::Nul { field: told }) if told == field),
            "{field}: {refused:?}"
        );
    }
}

pub(crate) async fn a_nul_is_refused_by_the_name_of_its_field(bench: Bench) {
    let Bench { store, tenant_id, .. } = &bench;
    let tenant_id = *tenant_id;
    let run_id = bench.trigger("revenue").await;
    let before = bench.log().await;
    let limits = Limits::default();
    let job = |name: &str, queue: &str| JobDocument {
        name: name.to_owned(),
        document: json!({}),
        queue: queue.to_owned(),
        policy: Policy::default(),
    };
    let event = || bench.foreign_event(store.next_event_id());
    let by_nul = NewRun { triggered_by: NUL.to_owned(), ..bench.new_run("revenue") };
    let source = Event { source: NUL.to_owned(), ..event() };
    let traced = Event { traceparent: Some(NUL.to_owned()), ..event() };
    let table = [
        ("tenant", store.tenant(NUL).await.err()),
        ("tenant", store.tenant_named(NUL).await.err()),
        ("queue", store.set_queue(tenant_id, NUL, limits, "ann").await.err()),
        ("by", store.set_queue(tenant_id, "default", limits, NUL).await.err()),
        ("name", store.save_job(tenant_id, job(NUL, "default"), "ann").await.err()),
        ("queue", store.save_job(tenant_id, job("daily", NUL), "ann").await.err()),
        ("by", store.save_job(tenant_id, job("daily", "default"), NUL).await.err()),
        ("name", store.job(tenant_id, NUL).await.err()),
        ("after", store.jobs(tenant_id, Some(NUL), 1).await.err()),
        ("job", store.trigger(bench.new_run(NUL)).await.err()),
        ("triggered_by", store.trigger(by_nul).await.err()),
        ("by", store.request_cancel(tenant_id, run_id, NUL, None).await.err()),
        ("reason", store.request_cancel(tenant_id, run_id, "ann", Some(NUL)).await.err()),
        ("type", store.ingest(tenant_id, vec![event(), Event { name: NUL.into(), ..event() }]).await.err()),
        ("source", store.ingest(tenant_id, vec![event(), source]).await.err()),
        ("traceparent", store.ingest(tenant_id, vec![traced]).await.err()),
    ];
    are_refused(table);
    assert_eq!(bench.log().await, before, "nothing was told");
}

pub(crate) async fn so_it_is_in_keys_connections_and_answers(bench: Bench) {
    let Bench { store, tenant_id, .. } = &bench;
    let tenant_id = *tenant_id;
    let key = |name: &str| NewKey {
        id: Uuid::now_v7(),
        tenant_id,
        name: name.to_owned(),
        role: KeyRole::Viewer,
        hash: [0; 32],
        expires_at_ms: None,
    };
    let connection = |name: &str, kind: &str| NewConnection {
        tenant_id,
        name: name.to_owned(),
        kind: kind.to_owned(),
        settings: json!({}),
        sealed: Vec::new(),
    };
    let answer = |body: &str| Answer { request_hash: [0; 32], status: 200, body: body.to_owned() };
    are_refused([
        ("tenant", store.make_tenant(TenantId(Uuid::now_v7()), NUL, "ann").await.err()),
        ("name", store.make_key(key(NUL), "ann").await.err()),
        ("by", store.make_key(key("ci"), NUL).await.err()),
        ("by", store.revoke_key(tenant_id, Uuid::now_v7(), NUL).await.err()),
        ("tenant", store.bootstrap(NUL, [0; 32], Uuid::now_v7()).await.err()),
        ("name", store.put_connection(connection(NUL, "postgres"), Expected::Any, "ann").await.err()),
        ("kind", store.put_connection(connection("bank", NUL), Expected::Any, "ann").await.err()),
        ("name", store.connection(tenant_id, NUL).await.err()),
        ("after", store.connections(tenant_id, Some(NUL), 1).await.err()),
        ("name", store.delete_connection(tenant_id, NUL, "ann").await.err()),
        ("key", store.answer_of(tenant_id, NUL).await.err()),
        ("key", store.keep_answer(tenant_id, NUL, answer("")).await.err()),
        ("body", store.keep_answer(tenant_id, "key", answer(NUL)).await.err()),
    ]);
}

pub(crate) async fn a_nul_within_json_is_kept(bench: Bench) {
    let params = json!({ "separator": NUL });
    let new = NewRun { params: params.clone(), ..bench.new_run("revenue") };
    let run_id = bench.store.trigger(new.clone()).await.unwrap();
    assert_eq!(bench.store.trigger(new).await.unwrap(), run_id, "the same wish");
    assert_eq!(bench.record(run_id).await.params, params.to_string());
    let event = Event { data: json!({ NUL: NUL }), ..bench.foreign_event(bench.store.next_event_id()) };
    bench.store.ingest(bench.tenant_id, vec![event.clone(), event.clone()]).await.unwrap();
    bench.store.ingest(bench.tenant_id, vec![event.clone()]).await.unwrap();
    bench.log().await;
    let kept = bench.store.events_of(bench.tenant_id, event.run_id, 0, 1).await.unwrap();
    assert_eq!(kept[0].data, event.data);
}
