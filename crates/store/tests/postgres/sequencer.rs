//! The order of the log, when commits overtake each other.

use trueup_events::{Event, EventId, EventName, Ids};
use trueup_store::Store;

use crate::database::{connect, database, open, tenant, wish};

/// Follows the log until it has seen so many events.
async fn follow(store: &Store, position: &mut u64, count: usize) -> Vec<EventId> {
    let mut changes = store.changes();
    let mut seen = Vec::new();
    while seen.len() < count {
        let page = store.read_from(*position, None, 3).await.unwrap();
        if page.is_empty() {
            changes.changed().await.unwrap();
        }
        for event in page {
            assert_eq!(event.position, Some(*position + 1), "the log has a gap");
            *position += 1;
            seen.push(event.event_id);
        }
    }
    seen
}

const TENANT: &str = "0a1b2c3d-4e5f-4607-8899-aabbccddeeff";

fn raw_event(id: i64) -> String {
    format!(
        "with told as (insert into trueup.event_inbox (event_id) values ({id}))
         insert into trueup.events (event_id, tenant_id, run_id, type, source, time, data)
         values ({id}, '{TENANT}', '7', 'step.enter', 's', '2026-07-01T12:00:00Z', '{{}}')"
    )
}

#[tokio::test]
async fn a_reader_misses_nothing_that_commits_late() {
    let url = database();
    let (writer, reader) = (open(&url).await, open(&url).await);
    let tenant_id = tenant(&writer).await;
    let late = connect(&url).await;
    // It takes the first number of the inbox, and keeps it back.
    late.batch_execute(&format!("begin; {}", raw_event(1))).await.unwrap();
    let mut position = 0;
    for _ in 0..3 {
        writer.trigger(wish(tenant_id)).await.unwrap();
    }
    let before = follow(&reader, &mut position, 6).await;
    late.batch_execute("commit").await.unwrap();
    let after = follow(&reader, &mut position, 1).await;
    assert_eq!(after, [EventId::new(1).unwrap()]);
    assert!(!before.contains(&after[0]));
    // One that rolls back leaves no gap.
    late.batch_execute(&format!("begin; {}; rollback; {}", raw_event(2), raw_event(3))).await.unwrap();
    assert_eq!(follow(&reader, &mut position, 1).await, [EventId::new(3).unwrap()]);
}

#[tokio::test]
async fn what_commits_together_stays_together() {
    let url = database();
    let (left, right) = (connect(&url).await, connect(&url).await);
    let store = open(&url).await;
    // They take the numbers of the inbox in turns, and none is visible before the end.
    for (client, id) in [(&left, 1), (&right, 2), (&left, 3), (&right, 4)] {
        let begin = if id < 3 { "begin; " } else { "" };
        client.batch_execute(&format!("{begin}{}", raw_event(id))).await.unwrap();
    }
    // Both commits are seen by one turn, because this lock keeps turns away until then.
    let keeper = connect(&url).await;
    keeper
        .batch_execute(&format!("begin; {}", crate::statements::statement("lock_sequencer")))
        .await
        .unwrap();
    left.batch_execute("commit").await.unwrap();
    right.batch_execute("commit").await.unwrap();
    keeper.batch_execute("commit").await.unwrap();
    let seen: Vec<u64> = follow(&store, &mut 0, 4).await.iter().map(|id| id.get()).collect();
    assert_eq!(seen, [1, 3, 2, 4]);
}

#[tokio::test]
async fn many_writers_make_one_log() {
    let url = database();
    let (left, right, reader) = (open(&url).await, open(&url).await, open(&url).await);
    let tenant_id = tenant(&left).await;
    let write = async |store: &Store| {
        let triggers = (0..25).map(|_| store.trigger(wish(tenant_id)));
        for triggered in futures_util::future::join_all(triggers).await {
            triggered.unwrap();
        }
    };
    let mut position = 0;
    let read = follow(&reader, &mut position, 100);
    let ((), (), mut seen) = futures_util::future::join3(write(&left), write(&right), read).await;
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 100);
    // A run's own events are in order for everybody.
    let log = reader.read_from(0, Some(tenant_id), 200).await.unwrap();
    for event in log.iter().filter(|event| event.name.as_str() == "execution.requested") {
        let cause = log.iter().find(|cause| Some(cause.event_id) == event.causation_id).unwrap();
        assert!(cause.position < event.position);
    }
    let audited = left.verify_audit(None).await.unwrap();
    assert_eq!((audited.unlinked, audited.fault), (0, None));
    assert_eq!(audited.head, right.verify_audit(None).await.unwrap().head);
}

#[tokio::test]
async fn what_a_killed_process_committed_is_numbered() {
    let url = database();
    let reader = open(&url).await;
    let raw = connect(&url).await;
    raw.batch_execute(&raw_event(1)).await.unwrap();
    assert_eq!(follow(&reader, &mut 0, 1).await, [EventId::new(1).unwrap()]);
}

#[tokio::test]
async fn what_another_numbered_is_noticed_though_its_notification_is_lost() {
    let url = database();
    let reader = open(&url).await;
    let raw = connect(&url).await;
    let mut position = 0;
    // More than once: a listener that starts tells of a change by itself.
    for id in 1..=3 {
        let placed = format!(
            "event_positions (position, tenant_id, run_id, event_id) values ({id}, '{TENANT}', '7', "
        );
        let told = raw_event(id).replace("event_inbox (event_id) values (", &placed);
        let number = format!("begin; {told}; update trueup.meta set last_position = {id}; commit");
        raw.batch_execute(&number).await.unwrap();
        let seen = follow(&reader, &mut position, 1);
        let seen = tokio::time::timeout(std::time::Duration::from_secs(30), seen).await;
        assert_eq!(seen.expect("it looks by itself").len(), 1);
    }
}

#[tokio::test]
async fn a_batch_keeps_its_order_and_its_repeats_add_nothing() {
    let store = open(&database()).await;
    let tenant_id = tenant(&store).await;
    let ids = Ids {
        run_id: "7".parse().unwrap(),
        job_id: "9b7e4c1a-2f44-4b1d-8c07-5a1b2c3d4e5f".parse().unwrap(),
        tenant_id,
    };
    let event = |id: u64| Event {
        event_id: EventId::new(id).unwrap(),
        name: EventName::from("step.enter"),
        data: serde_json::json!({ "step": id, "nul": "\0" }),
        ..Event::new(
            EventId::new(id).unwrap(),
            "2026-07-01T12:00:00Z".parse().unwrap(),
            &ids,
            &trueup_events::payload::StageStarted { stage_name: "s".to_owned() }.into(),
            &trueup_events::Sources::default(),
        )
    };
    let batch: Vec<Event> = [9, 3, 5, 3].into_iter().map(event).collect();
    store.ingest(tenant_id, batch.clone()).await.unwrap();
    store.ingest(tenant_id, batch).await.unwrap();
    store.ingest(tenant_id, vec![event(5), event(1)]).await.unwrap();
    let log = store.read_from(0, None, 10).await.unwrap();
    let order: Vec<u64> = log.iter().map(|event| event.event_id.get()).collect();
    assert_eq!(order, [9, 3, 5, 1]);
    assert_eq!(log[0].data, event(9).data);
    for other in [
        vec![event(2), Event { source: "x".to_owned(), ..event(9) }],
        vec![event(4), Event { source: "x".to_owned(), ..event(4) }],
    ] {
        let refused = store.ingest(tenant_id, other).await.unwrap_err();
        assert!(matches!(refused, trueup_store::StoreError::EventDiffers(_)), "{refused:?}");
    }
    assert_eq!(store.read_from(0, None, 10).await.unwrap().len(), 4);
}
