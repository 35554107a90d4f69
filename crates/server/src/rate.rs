//! How much a caller may ask for: a bucket of requests that fills up again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::Instant;
use uuid::Uuid;

use crate::app::App;
use crate::caller::Caller;
use crate::problem::Refused;

/// How many requests a key has a second, and at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many come back a second.
    pub per_second: u32,
    /// How many there are at most.
    pub burst: u32,
}

impl Default for Rate {
    fn default() -> Self {
        Self { per_second: 500, burst: 2000 }
    }
}

/// What a request costs. A bucket gets as many back a microsecond as requests a second.
const COST: u64 = 1_000_000;

/// A bucket for each key; those who show none share one.
#[derive(Debug)]
pub(crate) struct Buckets {
    rate: Rate,
    levels: Mutex<HashMap<Option<Uuid>, Level>>,
}

/// How much was left, and when.
#[derive(Debug, Clone, Copy)]
struct Level {
    left: u64,
    at: Instant,
}

/// What a caller may still ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Allowance {
    is_granted: bool,
    /// How many more requests.
    left: u64,
    /// Until there is one more.
    again_in_s: u32,
}

impl Buckets {
    pub(crate) fn new(rate: Rate) -> Self {
        Self { rate, levels: Mutex::default() }
    }

    fn take(&self, key_id: Option<Uuid>, now: Instant) -> Allowance {
        let per_us = u64::from(self.rate.per_second).max(1);
        let full = u64::from(self.rate.burst) * COST;
        let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        let level = levels.entry(key_id).or_insert(Level { left: full, at: now });
        let elapsed_us =
            u64::try_from(now.saturating_duration_since(level.at).as_micros()).unwrap_or(u64::MAX);
        level.left = level.left.saturating_add(elapsed_us.saturating_mul(per_us)).min(full);
        level.at = now;
        let is_granted = level.left >= COST;
        level.left -= if is_granted { COST } else { 0 };
        let again_in_us = COST.saturating_sub(level.left) / per_us;
        let again_in_s = again_in_us.div_ceil(1_000_000).try_into().unwrap_or(u32::MAX);
        Allowance { is_granted, left: level.left / COST, again_in_s }
    }
}

/// Refuses what is too much, and says in every answer how much is left.
pub(crate) async fn hold(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let key_id = request.extensions().get::<Caller>().and_then(|caller| caller.key_id);
    let allowance = app.buckets.take(key_id, Instant::now());
    let Allowance { left, again_in_s, .. } = allowance;
    let mut response = if allowance.is_granted {
        next.run(request).await
    } else {
        let problem = "too many requests for this key: slow down, or send events in batches";
        let refused = Refused::new(StatusCode::TOO_MANY_REQUESTS, problem);
        refused.again_after(again_in_s.max(1)).into_response()
    };
    let headers = [
        ("ratelimit-limit", u64::from(app.buckets.rate.burst)),
        ("ratelimit-remaining", left),
        ("ratelimit-reset", u64::from(again_in_s)),
    ];
    let headers = headers.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from(value)));
    response.headers_mut().extend(headers);
    response
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_bucket_empties_and_fills_up_again() {
        let buckets = Buckets::new(Rate { per_second: 2, burst: 3 });
        let start = Instant::now();
        let take = |ms: u64| buckets.take(None, start + Duration::from_millis(ms));
        let granted: Vec<bool> = [0, 0, 0, 0, 400, 500, 501, 10_000].map(|ms| take(ms).is_granted).into();
        assert_eq!(granted, [true, true, true, false, false, true, false, true]);
        assert_eq!(take(10_000).left, 1);
        let another = buckets.take(Some(Uuid::nil()), start);
        assert!(another.is_granted && another.left == 2, "{another:?}");
    }
}
