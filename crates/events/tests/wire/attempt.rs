//! The lines between the two processes of an attempt.

use trueup_events::Payload;
use trueup_events::attempt::Line;

use crate::payloads::{parts, samples};

#[test]
fn whatever_is_told_is_heard() {
    for sample in samples() {
        let (event_type, data) = parts(&sample);
        let payload = Payload::read(event_type, data).unwrap();
        let line = Line::Told { time: "2026-07-01T12:00:00.000001Z".parse().unwrap(), payload };
        let text = serde_json::to_string(&line).unwrap();
        assert!(!text.contains('\n'), "{text}");
        assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line, "{text}");
    }
}
