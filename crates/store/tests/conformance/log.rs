//! The log of events.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use trueup_events::outcome::{Outcome, Verdict};
use trueup_events::{Event, Mark, RunId};
use trueup_lifecycle::Report;
use trueup_store::{Ingested, NewRun, StoreError};

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
    bench.store.ingest(bench.tenant_id, vec![event.clone()]).await.unwrap();
    bench.store.ingest(bench.tenant_id, vec![event.clone(), event.clone()]).await.unwrap();
    let other = Event { stamped_here: true, ..bench.foreign_event(bench.store.next_event_id()) };
    bench.store.ingest(bench.tenant_id, vec![event.clone(), other.clone()]).await.unwrap();
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
        let error = bench.store.ingest(bench.tenant_id, vec![changed]).await.unwrap_err();
        assert!(matches!(error, StoreError::EventDiffers(id) if id == event.event_id), "{error}");
    }
}

pub(crate) async fn what_comes_again_moves_no_ids_ahead(bench: Bench) {
    let batch: Vec<Event> = (0..3).map(|_| bench.foreign_event(bench.store.next_event_id())).collect();
    for _ in 0..20 {
        bench.store.ingest(bench.tenant_id, batch.clone()).await.unwrap();
    }
    assert_eq!(bench.store.next_event_id().unix_ms(), batch[0].event_id.unix_ms(), "no time has passed");
}

pub(crate) async fn who_tells_the_same_at_once_tells_it_once(bench: Bench) {
    let batch: Vec<Event> = (0..50).map(|_| bench.foreign_event(bench.store.next_event_id())).collect();
    let tell = |number: usize| {
        let (store, tenant_id, mut batch) = (Arc::clone(&bench.store), bench.tenant_id, batch.clone());
        // Each in an order of its own.
        batch.rotate_left(number * 6);
        tokio::spawn(async move { store.ingest(tenant_id, batch).await })
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
    let lease = bench.running("revenue").await;
    let run_id = lease.run_id();
    let told =
        |name: &str| Event { run_id, name: name.into(), ..bench.foreign_event(bench.store.next_event_id()) };
    let before = bench.record(run_id).await;
    let kept = [
        ("run.finalised", Some(Mark::Illegal)),
        ("run.cancelled", Some(Mark::Illegal)),
        ("run.cancel_requested", Some(Mark::Illegal)),
        ("execution.completed", Some(Mark::Illegal)),
        ("run.completed", Some(Mark::Illegal)),
        ("run.rows_processed", None),
        ("step.exit", None),
    ];
    for (name, mark) in kept {
        let event = told(name);
        let expected = Ingested { event_id: event.event_id, is_new: true, mark };
        assert_eq!(bench.store.ingest(bench.tenant_id, vec![event]).await.unwrap(), [expected], "{name}");
    }
    assert_eq!(bench.record(run_id).await, before, "it has an owner, who alone moves it");
    bench.store.finish(lease, Report::Ended(Outcome::Result(Verdict::Matched))).await.unwrap();
    let ended = bench.record(run_id).await;
    let late = bench.store.ingest(bench.tenant_id, vec![told("run.rows_processed")]).await.unwrap();
    assert_eq!((late[0].is_new, late[0].mark), (true, Some(Mark::Stale)));
    assert_eq!(bench.record(run_id).await, ended);
    bench.log().await;
    let events = bench.store.events_of(bench.tenant_id, run_id, 0, 100).await.unwrap();
    let finalised: Vec<_> = events.iter().filter(|event| event.name.as_str() == "run.finalised").collect();
    assert_eq!(finalised.iter().map(|event| event.mark).collect::<Vec<_>>(), [Some(Mark::Illegal), None]);
}

pub(crate) async fn a_batch_is_all_or_nothing(bench: Bench) {
    let first = bench.foreign_event(bench.store.next_event_id());
    bench.store.ingest(bench.tenant_id, vec![first.clone()]).await.unwrap();
    let batch = vec![
        bench.foreign_event(bench.store.next_event_id()),
        Event { data: json!("other"), ..first.clone() },
        bench.foreign_event(bench.store.next_event_id()),
    ];
    bench.store.ingest(bench.tenant_id, batch).await.unwrap_err();
    bench.log().await;
    // The one before the batch, and the one that marks the end.
    assert_eq!(bench.store.events_of(bench.tenant_id, first.run_id, 0, 10).await.unwrap().len(), 2);
}

pub(crate) async fn a_long_batch_keeps_its_order_around_what_is_repeated(bench: Bench) {
    let batch: Vec<Event> = (0..75).map(|_| bench.foreign_event(bench.store.next_event_id())).collect();
    let repeated = [40, 3, 74];
    bench.store.ingest(bench.tenant_id, repeated.map(|at: usize| batch[at].clone()).to_vec()).await.unwrap();
    bench.store.ingest(bench.tenant_id, batch.clone()).await.unwrap();
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
    bench.store.ingest(bench.tenant_id, batch.clone()).await.unwrap();
    bench.store.ingest(bench.tenant_id, batch.clone()).await.unwrap();
    let after = told(&"run.cancelled");
    bench.store.ingest(bench.tenant_id, vec![after.clone()]).await.unwrap();
    let stored = bench.store.events_of(bench.tenant_id, after.run_id, 0, 100).await.unwrap();
    assert_eq!(names(&stored), [&ends[..], &["run.cancelled"]].concat(), "once each, contradictions and all");
    let marks: Vec<_> = stored.iter().map(|event| event.mark).collect();
    let stale = Some(Mark::Stale);
    assert_eq!(marks, [None, stale, stale, stale, stale], "the first stands");
}

pub(crate) async fn nobody_tells_of_another_tenants_run_or_hears_of_it(bench: Bench) {
    let run_id = bench.trigger("revenue").await;
    let stranger = bench.store.tenant("globex").await.unwrap();
    let event =
        |tenant_id, run_id| Event { tenant_id, run_id, ..bench.foreign_event(bench.store.next_event_id()) };
    let unknown = RunId::Uuid(uuid::Uuid::now_v7());
    for (by, batch) in [
        (stranger, vec![event(stranger, unknown), event(stranger, run_id)]),
        (stranger, vec![event(bench.tenant_id, run_id)]),
        (bench.tenant_id, vec![event(stranger, run_id)]),
    ] {
        let refused = bench.store.ingest(by, batch).await.unwrap_err();
        assert!(matches!(refused, StoreError::NoSuchRun(id) if id == run_id), "{refused}");
    }
    // Two tenants may each observe an execution of the same number, or UUID.
    let number = RunId::Number(7);
    bench.store.ingest(bench.tenant_id, vec![event(bench.tenant_id, run_id)]).await.unwrap();
    bench.store.ingest(stranger, vec![event(stranger, unknown)]).await.unwrap();
    for tenant_id in [bench.tenant_id, stranger] {
        bench.store.ingest(tenant_id, vec![event(tenant_id, number)]).await.unwrap();
    }
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
