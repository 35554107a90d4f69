//! Trying again while the store is away.

use std::time::Duration;

use trueup_store::StoreError;

use crate::stopping::Stopping;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Short enough for a worker to be heard of again within a lease of some seconds after the store is back.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The pauses between tries, each twice as long as the one before.
#[derive(Debug)]
pub(crate) struct Patience {
    pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { pause: FIRST_PAUSE }
    }
}

impl Patience {
    /// Waits before the next try; says no when there is to be none, because everything ends.
    pub(crate) async fn wait(&mut self, stopping: &Stopping) -> bool {
        let pause = self.pause;
        self.pause = LONGEST_PAUSE.min(pause * 2);
        tokio::select! {
            () = tokio::time::sleep(pause) => true,
            () = stopping.given_up() => false,
        }
    }
}

/// Asks the store until it answers; a fault that may pass is waited out, so that nothing is lost to it.
pub(crate) async fn insist<T, F: Future<Output = Result<T, StoreError>>>(
    stopping: &Stopping,
    doing: &'static str,
    ask: impl Fn() -> F,
) -> Result<T, StoreError> {
    let mut patience = Patience::default();
    loop {
        match before_the_end(stopping, doing, ask()).await {
            Err(error) if error.is_passing() => {
                tracing::warn!(doing, %error, "the store did not answer; trying again");
                if !patience.wait(stopping).await {
                    return Err(error);
                }
            }
            answer => return answer,
        }
    }
}

/// Asks the store once; a store that hangs does not hold up the end of everything.
pub(crate) async fn before_the_end<T>(
    stopping: &Stopping,
    doing: &'static str,
    ask: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    tokio::select! {
        answer = ask => answer,
        () = stopping.last_word() => {
            Err(StoreError::Away { doing, problem: "no answer before everything came to its end".to_owned() })
        }
    }
}
