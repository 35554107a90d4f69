//! `trueup queues`: made, limited and listed.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::json;
use trueup_store::Pass;

use crate::shared_store::{JOB, Shared};

#[test]
fn a_queue_is_made_and_limited() {
    for shared in [Shared::sqlite(), Shared::postgres()] {
        let steps: [(&[&str], &str); 6] = [
            (&["heavy", "--max-running", "3"], "heavy: max running 3, max waiting none"),
            (&["heavy", "--max-waiting", "10"], "heavy: max running 3, max waiting 10"),
            (&["heavy"], "heavy: max running 3, max waiting 10"),
            (&["heavy", "--max-running", "none"], "heavy: max running none, max waiting 10"),
            (&["default", "--max-running", "1"], "default: max running 1, max waiting none"),
            (&["none-may-wait", "--max-waiting", "0"], "none-may-wait: max running none, max waiting 0"),
        ];
        for (more, expected) in steps {
            let set = shared.shown(&[&["queues", "set"], more].concat());
            assert_eq!(set, format!("exit 0\n{expected}\n"), "{more:?}");
        }
        shared.trigger();
        insta::allow_duplicates! {
            insta::assert_snapshot!(shared.shown(&["queues", "list"]), @r"
            exit 0
              queue          waiting  max waiting  scheduled  running  max running
              default              1            -          0        0            1
              heavy                0           10          0        0            -
              none-may-wait        0            0          0        0            -
            ");
        }
        let listed = shared.json(&["queues", "list", "--json"]);
        let default = json!({
            "queue": "default", "waiting": 1, "max_waiting": null, "scheduled": 0, "running": 0, "max_running": 1,
        });
        assert_eq!(listed[0], default);
        assert_eq!(shared.json(&["status", "--json"])["queues"], listed);
    }
}

#[test]
fn a_job_runs_in_a_queue_once_that_is_made_and_has_room() {
    for shared in [Shared::sqlite(), Shared::postgres()] {
        fs::write(shared.place.path().join("job.yaml"), format!("{JOB}queue: heavy\n")).unwrap();
        let run = || shared.shown(&["run", "job.yaml", "--quiet"]);
        let missing = run();
        let hint = "hint: make it: trueup queues set heavy; or let the job use the queue `default`";
        assert!(missing.starts_with("exit 2\n") && missing.contains(hint), "{missing}");
        shared.shown(&["queues", "set", "heavy", "--max-waiting", "0"]);
        let full = run();
        let hint = "hint: try again when some have started, or let more wait: trueup queues set heavy --max-waiting N";
        assert!(full.starts_with("exit 2\n") && full.contains(hint), "{full}");
        shared.shown(&["queues", "set", "heavy", "--max-waiting", "1"]);
        assert!(run().starts_with("exit 1\nUNMATCHED"));
    }
}

#[test]
fn a_run_that_waits_says_for_what() {
    for (shared, has_server) in
        [(Shared::sqlite(), false), (Shared::sqlite(), true), (Shared::postgres(), false)]
    {
        fs::write(shared.place.path().join("job.yaml"), JOB).unwrap();
        shared.shown(&["queues", "set", "default", "--max-running", "1"]);
        // As whoever is killed while it waits leaves it.
        let [first, second] = [shared.trigger(), shared.trigger()].map(|id| id.to_string());
        if has_server {
            let pass = Pass {
                task: "executor".to_owned(),
                instance: "server".to_owned(),
                at_ms: 0,
                took_ms: 1,
                seen: 0,
                done: 0,
                note: None,
            };
            shared.with_store(async |store, _| store.note_pass(pass).await.unwrap());
        }
        let mut command = shared.trueup(&["run", "job.yaml", "--quiet"]);
        let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(run.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert_eq!(
            said.next().unwrap(),
            format!("waiting in the queue default behind 2 runs, the first of which, {first}, is requested")
        );
        if !has_server {
            assert_eq!(
                said.next().unwrap(),
                format!(
                    "no server has been heard of that would move {first} on: start `trueup serve`, or `trueup runs cancel {first}`"
                )
            );
        }
        for id in [first, second] {
            shared.shown(&["runs", "cancel", &id]);
        }
        assert_eq!(said.next(), None);
        assert_eq!(run.wait().unwrap().code(), Some(1), "its turn has come");
    }
}

#[test]
fn what_is_no_queue_and_no_limit_is_refused() {
    let shared = Shared::sqlite();
    let table: [(&[&str], &str); 5] = [
        (&["queues", "list"], "there is no store"),
        (&["queues", "set", "../heavy"], "expected at most 100 letters, digits"),
        (&["queues", "set", "heavy", "--max-running", "0"], "expected a whole number from 1, or none"),
        (&["queues", "set", "heavy", "--max-running", "all"], "expected a whole number from 1, or none"),
        (&["queues", "set", "heavy", "--max-waiting", "-1"], "unexpected argument '-1'"),
    ];
    for (arguments, expected) in table {
        let refused = shared.shown(arguments);
        assert!(refused.starts_with("exit 2\n") && refused.contains(expected), "{arguments:?}: {refused}");
    }
}
