//! Engines that hang, lag and fail: what they are to do is done in the end, and they hold up nobody.

use std::time::Duration;

use trueup_control::Answer;
use trueup_events::EventType;
use trueup_lifecycle::{Policy, Status};

use crate::script::{Call, Mood};
use crate::sweeps::silent;
use crate::system::{Server, System};

const GRACE: Duration = Duration::from_secs(8);
const DAY_MS: i64 = 24 * 3_600_000;

pub(crate) async fn a_cancel_is_passed_on(system: System) {
    // Before it began, and while it runs; by nobody who could tell the engine.
    for (server, job, status) in
        [(Server::IDLE, "match", Status::Scheduled), (Server::BUSY, "wait", Status::Running)]
    {
        let stopping = system.serve(Server { reconcile_interval: None, ..server });
        let run_id = system.trigger(job, Policy::default()).await;
        system.reaches(run_id, status).await;
        system.store.request_cancel(system.tenant_id, run_id, "ann", None).await.unwrap();
        system.reaches(run_id, Status::Cancelled).await;
        system.engine.becomes(|engine| engine.cancelled().contains(&run_id)).await;
        stopping.finish(GRACE).await;
    }
}

pub(crate) async fn a_cancel_that_fails_or_hangs_is_passed_on_again(system: System) {
    let stopping = system.serve(Server { reconcile_interval: None, ..Server::IDLE });
    for mood in [Mood::Lags, Mood::Fails, Mood::Hangs] {
        system.engine.be(Call::Cancel, mood);
        let run_id = system.trigger("match", Policy::default()).await;
        system.reaches(run_id, Status::Scheduled).await;
        let before = system.engine.calls(Call::Cancel);
        system.store.request_cancel(system.tenant_id, run_id, "ann", None).await.unwrap();
        system.reaches(run_id, Status::Cancelled).await;
        system.engine.becomes(|engine| engine.calls(Call::Cancel) > before).await;
        system.engine.be(Call::Cancel, Mood::Well);
        system.engine.becomes(|engine| engine.cancelled().contains(&run_id)).await;
    }
    stopping.finish(GRACE).await;
    assert!(system.store.sweep_cancels(10).await.unwrap().is_empty(), "what was told is not told again");
}

pub(crate) async fn a_submit_that_hangs_holds_up_nobody(system: System) {
    system.engine.be(Call::Submit, Mood::Hangs);
    let stopping = system.serve(Server { reconcile_interval: None, ..Server::BUSY });
    let slow = system.trigger("match", Policy::default()).await;
    system.engine.becomes(|engine| engine.calls(Call::Submit) > 0).await;
    system.engine.be(Call::Submit, Mood::Well);
    let healthy = system.start("match").await;
    system.reaches(healthy, Status::Completed).await;
    // It is given up in the end, and tried again when its pause is over, with nobody to say so.
    system.pauses(slow).await;
    system.advance(60_000);
    system.reaches(slow, Status::Completed).await;
    stopping.finish(GRACE).await;
}

pub(crate) async fn a_submit_that_failed_is_tried_again_without_a_sweep(system: System) {
    system.engine.be(Call::Submit, Mood::Fails);
    let stopping = system.serve(Server { reconcile_interval: None, ..Server::BUSY });
    let run_id = system.trigger("match", Policy::default()).await;
    system.pauses(run_id).await;
    system.engine.be(Call::Submit, Mood::Lags);
    system.advance(60_000);
    system.reaches(run_id, Status::Completed).await;
    assert_eq!(system.count(run_id, EventType::QueueErrored).await, 1);
    stopping.finish(GRACE).await;
}

pub(crate) async fn what_the_engine_cannot_delete_is_kept_until_it_can(system: System) {
    for mood in [Mood::Lags, Mood::Fails, Mood::Hangs] {
        system.engine.be(Call::Delete, Mood::Well);
        let stopping = system.serve(Server::BUSY);
        let run_id = system.trigger("match", Policy::default()).await;
        system.reaches(run_id, Status::Completed).await;
        let before = system.engine.calls(Call::Delete);
        system.engine.be(Call::Delete, mood);
        system.advance(31 * DAY_MS);
        system.engine.becomes(|engine| engine.calls(Call::Delete) > before).await;
        if mood != Mood::Lags {
            assert!(system.store.remembers(run_id).await.unwrap(), "the row goes last");
        }
        system.engine.be(Call::Delete, Mood::Well);
        while system.store.remembers(run_id).await.unwrap() {
            system.engine.is_called(Call::List, 1).await;
        }
        assert!(system.engine.deleted().contains(&run_id.workflow_name()));
        stopping.finish(GRACE).await;
    }
}

pub(crate) async fn an_engine_that_cannot_be_asked_loses_nothing(system: System) {
    for mood in [Mood::Lags, Mood::Fails, Mood::Hangs] {
        let run_id = silent(&system, Policy::default()).await;
        // It would be lost if the answer came.
        let answer = if mood == Mood::Lags { Answer::Running } else { Answer::NotFound };
        system.engine.say(run_id, answer);
        system.engine.be(Call::Ask, mood);
        let stopping = system.serve(Server::IDLE);
        system.engine.is_called(Call::Ask, 2).await;
        assert_eq!(system.run(run_id).await.run.state.status(), Status::Running, "{mood:?}");
        system.engine.be(Call::Ask, Mood::Well);
        system.engine.say(run_id, Answer::NotFound);
        system.reaches(run_id, Status::Abandoned).await;
        stopping.finish(GRACE).await;
    }
}

pub(crate) async fn a_run_past_its_deadline_waits_for_no_cancel(system: System) {
    for mood in [Mood::Fails, Mood::Hangs] {
        let run_id = silent(&system, Policy::default()).await;
        system.engine.be(Call::Cancel, mood);
        let stopping = system.serve(Server::IDLE);
        system.advance(Policy::default().deadline_ms);
        system.reaches(run_id, Status::Timeout).await;
        stopping.finish(GRACE).await;
    }
}
