//! A round trip through the Python package `cloudevents`, which shares no line with this one.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::json;
use trueup_events::cloudevents::{CloudEvent, Data, Limits, Message, decode};

use crate::cloud::awkward;
use crate::payloads::samples;

/// Where `./test` puts a Python that has the package.
const PYTHON: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cloudevents/bin/python");

/// Gives messages to the other implementation; for each it answers with the same events in every mode.
fn echo(messages: &[Message]) -> Vec<Vec<Message>> {
    assert!(Path::new(PYTHON).exists(), "no {PYTHON}: run ./test once, which installs it");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wire/echo.py");
    let mut command = Command::new(PYTHON);
    let mut python =
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python starts");
    let lines = messages.iter().map(|message| {
        json!({"headers": message.headers, "body": BASE64.encode(&message.body)}).to_string() + "\n"
    });
    let input: String = lines.collect();
    let mut stdin = python.stdin.take().unwrap();
    // On a thread of its own, so that neither side waits for the other with a full pipe.
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "{PYTHON} failed; its complaint is above");
    writer.join().unwrap().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(answers).collect()
}

fn answers(line: &str) -> Vec<Message> {
    let answers: Vec<(Vec<(String, String)>, String)> = serde_json::from_str(line).unwrap();
    let message = |(headers, body)| Message { headers, body: BASE64.decode::<String>(body).unwrap() };
    answers.into_iter().map(message).collect()
}

fn read(message: &Message) -> Vec<CloudEvent> {
    let headers: Vec<_> = message.headers.iter().map(|(name, value)| (&**name, value.as_bytes())).collect();
    decode(&headers, &message.body, Limits::default()).unwrap_or_else(|error| panic!("{error}: {message:?}"))
}

#[test]
fn the_python_package_reads_and_writes_the_same_events() {
    let mut bytes = awkward();
    (bytes.datacontenttype, bytes.data) = (Some("image/png".to_owned()), Some(Data::Binary(vec![0, 255])));
    let mut text = awkward();
    (text.datacontenttype, text.data) = (Some("text/plain".to_owned()), Some(Data::Text("ü, \"".to_owned())));
    let mut bare = awkward();
    // The package stamps events that have no time, so each has one here.
    (bare.datacontenttype, bare.data, bare.subject) = (None, None, None);
    let events: Vec<_> = [awkward(), bytes, text, bare].into_iter().chain(samples()).collect();

    let singles = events.iter().flat_map(|event| [event.to_binary(), event.to_structured()]);
    let messages: Vec<_> = singles.chain([CloudEvent::to_batch(&events)]).collect();
    let echoes = echo(&messages);
    assert_eq!(echoes.len(), messages.len());
    for (message, answers) in messages.iter().zip(echoes) {
        let events = read(message);
        assert_eq!(answers.len(), 2 * events.len() + 1);
        let (batch, singles) = answers.split_last().unwrap();
        assert_eq!(read(batch), events);
        for (event, answers) in events.iter().zip(singles.chunks(2)) {
            assert!(answers.iter().all(|answer| read(answer) == std::slice::from_ref(event)), "{answers:?}");
        }
    }
}
