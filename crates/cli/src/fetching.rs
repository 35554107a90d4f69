//! A source that is fetched from a store, and how far that is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use trueup_extract::{Access, Objects, Options, Scheme};
use trueup_reconcile::{Input, OpenError};

use crate::progress::{Bars, bar, push_line, short};

/// Bytes that came, and that there are.
#[derive(Default)]
struct Bytes {
    came: AtomicU64,
    expected: AtomicU64,
}

/// Fetches a source as the environment says; its bar is drawn on a terminal of that width.
pub(crate) fn fetch(
    scheme: Scheme,
    name: &str,
    url: &str,
    options: &Options,
    width: Option<usize>,
) -> Result<Input, OpenError> {
    let access = Access::of_environment(scheme, |variable| std::env::var(variable).ok());
    let bytes = Arc::new(Bytes::default());
    let _bars = width.map(|width| {
        let (bytes, name) = (Arc::clone(&bytes), name.to_owned());
        Bars::start(move |elapsed| frame(&bytes, &name, elapsed, width))
    });
    let tell = |came, expected| {
        bytes.came.store(came, Ordering::Relaxed);
        bytes.expected.store(expected, Ordering::Relaxed);
    };
    // An interrupt ends the program at once while sources are opened.
    let objects = Objects { url, access: &access, has_rows: true, is_stopped: &|| false, tell: &tell };
    Input::fetch(name, &objects, options)
}

fn frame(bytes: &Bytes, name: &str, elapsed: Duration, width: usize) -> String {
    let (came, expected) = (bytes.came.load(Ordering::Relaxed), bytes.expected.load(Ordering::Relaxed));
    let rate = short(came as f64 / elapsed.as_secs_f64().max(0.001));
    let expected = (expected > 0).then_some(expected);
    let mut frame = String::new();
    let line = format!("{name}  {}  {:>9} bytes  {rate:>8}/s", bar(came, expected), short(came as f64));
    push_line(&mut frame, &line, width);
    push_line(&mut frame, &format!("fetching, {:.1} s", elapsed.as_secs_f64()), width);
    frame
}

#[cfg(test)]
mod tests {
    use super::{Bytes, frame};
    use std::time::Duration;

    #[test]
    fn bytes_are_shown_as_they_come() {
        let bytes = Bytes { came: 1_500_000.into(), expected: 3_000_000.into() };
        let frame = frame(&bytes, "bank", Duration::from_secs(1), 80);
        assert!(frame.contains("50%      1.5 M bytes     1.5 M/s"), "{frame}");
        assert_eq!(frame.lines().count(), 2);
    }
}
