//! A store that hangs: it takes what is said and answers nothing, which is worse than one that is away.

use std::time::Duration;

use tokio::time::{Instant, timeout};
use trueup_lifecycle::Policy;

use crate::gate::Gate;
use crate::system::{Server, System};

/// Within this everything has to end, and it is well below the time after which the store itself gives up on a server.
const TEN_SECONDS: Duration = Duration::from_secs(10);

/// A run that tells and tells, on a store that has begun to hang.
async fn hanging(deadline_ms: i64) -> (System, trueup_control::Stopping, Gate) {
    let (system, gate) = System::behind_a_gate().await;
    let stopping = system.serve(Server { reconcile_interval: None, ..Server::BUSY });
    system.trigger("babble", Policy { deadline_ms, retries: 0 }).await;
    system.has_begun_one().await;
    gate.close();
    (system, stopping, gate)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_is_kept() {
    let (system, _stopping, _gate) = hanging(2_000).await;
    let stopped = timeout(TEN_SECONDS, system.has_stopped_one()).await;
    assert!(stopped.is_ok(), "the attempt went on past its deadline");
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_ends_in_time() {
    let (system, stopping, _gate) = hanging(600_000).await;
    let begun = Instant::now();
    stopping.finish(Duration::from_secs(2)).await;
    assert!(begun.elapsed() < TEN_SECONDS, "{:?}", begun.elapsed());
    system.has_stopped_one().await;
}
