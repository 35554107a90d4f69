//! The log of events.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use trueup_events::{Event, RunId};
use trueup_store::{NewRun, StoreError};

use crate::bench::{Bench, names};

pub(crate) async fn positions_are_gapless_and_in_order(bench: Bench) {
    let writers: Vec<_> = (0..8)
        .map(|_| {
            let (store, new) = (Arc::clone(&bench.store), bench.new_run("revenue"));
            tokio::spawn(async move {
                for _ in 0..10 {
                    let new = NewRun { run_id: uuid::Uuid::now_v7(), ..new.clone() };
                    store.trigger(new).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let events = bench.log().await;
    let positions: Vec<_> = events.iter().map(|event| event.position.unwrap()).collect();
    assert_eq!(positions, (1..=160).collect::<Vec<u64>>());
    for pair in events.chunks(2) {
        assert_eq!(pair[0].run_id, pair[1].run_id, "what commits together stays together");
        assert_eq!((pair[0].name.as_str(), pair[1].name.as_str()), ("run.triggered", "execution.requested"));
    }
    let page = bench.store.read_from(100, None, 7).await.unwrap();
    assert_eq!(page, events[100..107]);
}

pub(crate) async fn a_repeated_event_adds_nothing(bench: Bench) {
    let event = bench.foreign_event(bench.store.next_event_id());
    bench.store.append_events(vec![event.clone()]).await.unwrap();
    bench.store.append_events(vec![event.clone(), event.clone()]).await.unwrap();
    let other = Event { stamped_here: true, ..bench.foreign_event(bench.store.next_event_id()) };
    bench.store.append_events(vec![event.clone(), other.clone()]).await.unwrap();
    bench.log().await;
    let mut stored = bench.store.events_of(bench.tenant_id, event.run_id, 0, 10).await.unwrap();
    stored.truncate(2);
    let without_position: Vec<_> =
        stored.into_iter().map(|event| Event { position: None, ..event }).collect();
    assert_eq!(without_position, [event.clone(), other], "what went in comes out, digit by digit");

    for changed in [
        Event { data: json!({ "rows": 13 }), ..event.clone() },
        Event { source: "/somewhere".to_owned(), ..event.clone() },
        Event { time: "2026-09-21T10:00:01Z".parse().unwrap(), ..event.clone() },
    ] {
        let error = bench.store.append_events(vec![changed]).await.unwrap_err();
        assert!(matches!(error, StoreError::EventDiffers(id) if id == event.event_id), "{error}");
    }
}

pub(crate) async fn what_comes_again_moves_no_ids_ahead(bench: Bench) {
    let batch: Vec<Event> = (0..3).map(|_| bench.foreign_event(bench.store.next_event_id())).collect();
    for _ in 0..20 {
        bench.store.append_events(batch.clone()).await.unwrap();
    }
    assert_eq!(bench.store.next_event_id().unix_ms(), batch[0].event_id.unix_ms(), "no time has passed");
}

pub(crate) async fn who_tells_the_same_at_once_tells_it_once(bench: Bench) {
    let batch: Vec<Event> = (0..50).map(|_| bench.foreign_event(bench.store.next_event_id())).collect();
    let tell = |number: usize| {
        let (store, mut batch) = (Arc::clone(&bench.store), batch.clone());
        // Each in an order of its own.
        batch.rotate_left(number * 6);
        tokio::spawn(async move { store.append_events(batch).await })
    };
    let tellers: Vec<_> = (0..8).map(tell).collect();
    for teller in tellers {
        teller.await.unwrap().unwrap();
    }
    bench.log().await;
    // One more marks the end.
    let stored = bench.store.events_of(bench.tenant_id, batch[0].run_id, 0, 100).await.unwrap();
    assert_eq!(stored.len(), batch.len() + 1);
}

pub(crate) async fn only_a_change_tells_of_a_change(bench: Bench) {
    let run_id = bench.trigger("revenue").await;
    for name in ["run.finalised", "run.cancelled", "run.cancel_requested", "execution.completed"] {
        let event = bench.foreign_event(bench.store.next_event_id());
        let forged = Event { run_id, name: name.into(), ..event };
        let error = bench.store.append_events(vec![forged]).await.unwrap_err();
        assert!(matches!(error, StoreError::Reserved { .. }), "{error}");
    }
    assert_eq!(bench.log().await.len(), 2);
}

pub(crate) async fn a_batch_is_all_or_nothing(bench: Bench) {
    let first = bench.foreign_event(bench.store.next_event_id());
    bench.store.append_events(vec![first.clone()]).await.unwrap();
    let batch = vec![
        bench.foreign_event(bench.store.next_event_id()),
        Event { data: json!("other"), ..first.clone() },
        bench.foreign_event(bench.store.next_event_id()),
    ];
    bench.store.append_events(batch).await.unwrap_err();
    bench.log().await;
    // The one before the batch, and the one that marks the end.
    assert_eq!(bench.store.events_of(bench.tenant_id, first.run_id, 0, 10).await.unwrap().len(), 2);
}

pub(crate) async fn a_long_batch_keeps_its_order_around_what_is_repeated(bench: Bench) {
    let batch: Vec<Event> = (0..75).map(|_| bench.foreign_event(bench.store.next_event_id())).collect();
    let repeated = [40, 3, 74];
    bench.store.append_events(repeated.map(|at: usize| batch[at].clone()).to_vec()).await.unwrap();
    bench.store.append_events(batch.clone()).await.unwrap();
    let stored = bench.store.events_of(bench.tenant_id, batch[0].run_id, 0, 100).await.unwrap();
    let new = (0..75).filter(|at| !repeated.contains(at));
    let expected: Vec<_> = repeated.into_iter().chain(new).map(|at| batch[at].event_id).collect();
    assert_eq!(stored.iter().map(|event| event.event_id).collect::<Vec<_>>(), expected);
    let positions: Vec<_> = stored.iter().map(|event| event.position.unwrap()).collect();
    assert_eq!(positions, (1..=75).collect::<Vec<u64>>());
}

pub(crate) async fn what_others_tell_of_an_end_is_kept(bench: Bench) {
    let ends = ["run.finalised", "run.finalised", "run.cancelled", "execution.completed"];
    let told =
        |name: &&str| Event { name: (*name).into(), ..bench.foreign_event(bench.store.next_event_id()) };
    let batch: Vec<Event> = ends.iter().map(told).collect();
    bench.store.append_events(batch.clone()).await.unwrap();
    bench.store.append_events(batch.clone()).await.unwrap();
    let after = told(&"run.cancelled");
    bench.store.append_events(vec![after.clone()]).await.unwrap();
    let stored = bench.store.events_of(bench.tenant_id, after.run_id, 0, 100).await.unwrap();
    assert_eq!(names(&stored), [&ends[..], &["run.cancelled"]].concat(), "once each, contradictions and all");
}

pub(crate) async fn nobody_tells_of_another_tenants_run_or_hears_of_it(bench: Bench) {
    let run_id = bench.trigger("revenue").await;
    let stranger = bench.store.tenant("globex").await.unwrap();
    let event =
        |tenant_id, run_id| Event { tenant_id, run_id, ..bench.foreign_event(bench.store.next_event_id()) };
    let unknown = RunId::Uuid(uuid::Uuid::now_v7());
    let batch = vec![event(bench.tenant_id, run_id), event(stranger, unknown), event(stranger, run_id)];
    let refused = bench.store.append_events(batch).await.unwrap_err();
    assert!(matches!(refused, StoreError::NoSuchRun(id) if id == run_id), "{refused}");
    bench.store.append_events(vec![event(bench.tenant_id, run_id), event(stranger, unknown)]).await.unwrap();
    // Two tenants may each observe an execution of the same number.
    let number = RunId::Number(7);
    bench.store.append_events(vec![event(bench.tenant_id, number), event(stranger, number)]).await.unwrap();
    bench.log().await;
    let table = [
        (bench.tenant_id, run_id, 3),
        (stranger, run_id, 0),
        (bench.tenant_id, unknown, 0),
        (stranger, unknown, 1),
        (bench.tenant_id, number, 1),
        (stranger, number, 1),
    ];
    for (tenant_id, run_id, count) in table {
        let heard = bench.store.events_of(tenant_id, run_id, 0, 100).await.unwrap();
        assert_eq!(heard.len(), count, "{tenant_id} of {run_id}");
        assert!(heard.iter().all(|event| event.tenant_id == tenant_id), "{heard:?}");
    }
}

pub(crate) async fn a_reader_is_woken(bench: Bench) {
    let store = Arc::clone(&bench.store);
    let reader = tokio::spawn(async move {
        let mut changes = store.changes();
        loop {
            changes.mark_unchanged();
            let events = store.read_from(0, None, 10).await.unwrap();
            if let Some(event) = events.first() {
                return event.clone();
            }
            changes.changed().await.unwrap();
        }
    });
    let run_id = bench.trigger("revenue").await;
    let seen = tokio::time::timeout(Duration::from_secs(30), reader).await.unwrap().unwrap();
    assert_eq!(seen.run_id, run_id);
}
