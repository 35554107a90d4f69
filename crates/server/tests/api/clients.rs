//! Clients that exist already, unchanged: `./test` installs them.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use trueup_store::KeyRole;

use crate::executions::save_job;
use crate::served::Served;

const NOETL: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/noetl/bin/noetl");
const PYTHON: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cloudevents/bin/python");
const PRODUCER: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/noetl-events/debug/noetl-events-producer");

/// Runs a program that `./test` has installed.
fn run(program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    assert!(Path::new(program).exists(), "no {program}: run ./test once, which installs it");
    // It keeps its settings there, of which it shall find none.
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(program);
    command.args(arguments).env("HOME", home.path()).envs(variables.iter().copied());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    output
}

fn lines(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{text}"))).collect()
}

/// With a key as its session token where keys are asked for, and without one where none is.
#[test]
fn the_command_line_tool_of_noetl_runs_a_job_and_cancels_it() {
    for (served, has_key) in [(Served::new(), true), (Served::open_to(KeyRole::Operator), false)] {
        save_job(&served);
        let key = served.secret(KeyRole::Operator);
        let token = [("NOETL_SESSION_TOKEN", key.as_str())];
        let token = if has_key { &token[..] } else { &[] };
        let url = format!("http://{}", served.address);
        let noetl =
            |arguments: &[&str]| run(NOETL, &[&["--server-url", url.as_str()], arguments].concat(), token);
        let said = |arguments: &[&str]| lines(&noetl(arguments)).pop().unwrap();

        let started = said(&["run", "daily", "-r", "distributed", "--json"]);
        let id = started["execution_id"].as_str().unwrap();
        assert_eq!(started["status"], "started");
        let status = said(&["status", id, "--json"]);
        assert_eq!((&status["execution_id"], &status["status"]), (&json!(id), &json!("REQUESTED")));
        let cancelled = said(&["cancel", id, "--reason", "loop", "--json"]);
        assert_eq!(
            (&cancelled["status"], &cancelled["cancelled_executions"]),
            (&json!("cancelled"), &json!([id]))
        );
        assert_eq!(said(&["status", id, "--json"])["is_cancelled"], true);

        let operator = served.as_role(KeyRole::Operator);
        for name in ["playbook.started", "playbook.failed"] {
            operator
                .post("/api/events", &json!({ "execution_id": 9, "event_type": name, "step": "flows/load" }));
        }
        let shown = noetl(&["status", "9"]).stdout;
        assert!(String::from_utf8_lossy(&shown).contains("FAILED"), "{}", String::from_utf8_lossy(&shown));
        let refused = noetl(&["cancel", "9"]);
        let said =
            String::from_utf8_lossy(&refused.stdout).into_owned() + &String::from_utf8_lossy(&refused.stderr);
        assert!(said.contains("Cannot cancel execution"), "{said}");
    }
}

#[test]
fn the_python_package_cloudevents_sends_in_every_mode() {
    let served = Served::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/send.py");
    let (url, key) = (format!("http://{}/api/cloudevents", served.address), served.secret(KeyRole::Ingest));
    let answers = lines(&run(PYTHON, &[script, url.as_str(), key.as_str()], &[]));
    assert!(answers.iter().all(|answer| answer["status"] == "ok"), "{answers:?}");
    let viewer = served.as_role(KeyRole::Viewer);
    assert_eq!(viewer.get("/api/executions/77").json()["status"], "COMPLETED");
    let events = viewer.get("/api/executions/77/events").json();
    let told: Vec<&Value> =
        events["events"].as_array().unwrap().iter().map(|event| &event["payload"]["n"]).collect();
    assert_eq!(told, [1, 2, 3, 4]);
}

#[test]
fn the_crate_noetl_events_reports_an_execution() {
    let served = Served::new();
    let producer = served.as_role(KeyRole::Worker);
    for event in lines(&run(PRODUCER, &[], &[])) {
        let reply = producer.post("/api/events", &event);
        assert_eq!(reply.status, 200, "{event}: {}", reply.text());
    }
    let viewer = served.as_role(KeyRole::Viewer);
    let status = viewer.get("/api/executions/478775660589088776/status").json();
    assert_eq!((&status["status"], &status["completed_steps"]), (&json!("COMPLETED"), &json!(["fetch"])));
    let events = viewer.get("/api/executions/478775660589088776/events").json();
    let last = &events["events"][3];
    assert_eq!(
        (&last["event_id"], &last["created_at"], &last["worker_id"], &last["meta"]),
        (
            &json!("478775660589088777"),
            &json!("2026-05-31T03:14:15Z"),
            &json!("worker-7"),
            &json!({ "attempts": 2 })
        )
    );
}
