//! `trueup serve` and `trueup worker`: processes that move runs on until they are told to stop.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use trueup_events::RunId;
use trueup_testkit::{PATIENCE, Postgres};

use crate::shared_store::Shared;

/// A process that serves, and what it logs.
struct Server {
    child: Child,
    log: Lines<BufReader<ChildStderr>>,
}

impl Server {
    /// Starts one, and waits until it says that it has.
    fn start(shared: &Shared, arguments: &[&str]) -> Self {
        let mut command = shared.trueup(arguments);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = log.next().unwrap().unwrap();
        assert!(first.contains("INFO started") && !first.contains('\u{1b}'), "{first}");
        Self { child, log }
    }

    /// Waits until it logs something with this in it.
    fn logs(&mut self, part: &str) {
        assert!(self.log.by_ref().any(|line| line.unwrap().contains(part)), "it never logged {part:?}");
    }

    fn interrupt(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    }

    /// Sends a signal to every process of it at once, as who stops a service does; says how many there are beside it.
    fn signal_all(&self, name: &str) -> usize {
        let id = self.child.id().to_string();
        let attempts = children(&id);
        let all = std::iter::once(&id).chain(&attempts);
        assert!(Command::new("kill").args(["-s", name]).args(all).status().unwrap().success());
        attempts.len()
    }

    /// Interrupts it, and says how it exited and what it logged last.
    fn stop(mut self) -> (Option<i32>, String) {
        self.interrupt();
        let last = self.log.by_ref().map(Result::unwrap).last();
        (self.child.wait().unwrap().code(), last.unwrap_or_default())
    }
}

/// The processes that a process has started.
fn children(parent: &str) -> Vec<String> {
    let ids =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_child = |id: &String| {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        status.lines().any(|line| line.strip_prefix("PPid:").is_some_and(|id| id.trim() == parent))
    };
    ids.filter(is_child).collect()
}

/// Waits until the log has so many events of a type, and gives them.
fn told(shared: &Shared, name: &str, count: usize) -> Vec<Value> {
    let mut tail = shared
        .trueup(&["events", "tail", "--follow", "--json", "--type", name])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    let told = lines.take(count).map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    tail.kill().unwrap();
    tail.wait().unwrap();
    told
}

/// Waits until these background tasks have left a report, and no other.
fn reports(shared: &Shared, expected: [&str; 9]) {
    let until = Instant::now() + PATIENCE;
    loop {
        let status = shared.json(&["status", "--json"]);
        let tasks = status["tasks"].as_array().unwrap().iter().map(|task| task["task"].as_str().unwrap());
        let tasks: BTreeSet<&str> = tasks.collect();
        if tasks == BTreeSet::from(expected) {
            return;
        }
        assert!(Instant::now() < until, "{tasks:?}");
    }
}

#[test]
fn a_server_runs_what_is_asked_for_and_reports() {
    for shared in [Shared::sqlite(), Shared::postgres()] {
        let before = shared.trigger().to_string();
        let server = Server::start(&shared, &["serve", "--places", "1"]);
        shared.trigger();
        let ended = told(&shared, "run.finalised", 2);
        assert!(ended.iter().all(|event| event["data"]["result"] == "UNMATCHED"), "{ended:?}");
        assert!(ended.iter().any(|event| event["subject"] == before.as_str()), "what waited is run as well");
        let tasks = [
            "cancels",
            "executor",
            "hand-offs",
            "leases",
            "orphans",
            "pauses",
            "retention",
            "stale-claims",
            "worker",
        ];
        reports(&shared, tasks);
        let (code, last) = server.stop();
        assert_eq!(code, Some(130));
        assert!(last.ends_with("INFO stopped"), "{last}");
    }
}

#[test]
fn workers_take_what_a_server_hands_off() {
    let shared = Shared::postgres();
    let server = Server::start(&shared, &["serve", "--places", "0", "--name", "front"]);
    let worker = Server::start(&shared, &["worker", "--name", "back"]);
    let id = shared.trigger().to_string();
    assert_eq!(told(&shared, "run.finalised", 1)[0]["data"]["result"], "UNMATCHED");
    let shown = shared.json(&["runs", "show", &id, "--json"]);
    assert_eq!(shown["status"], "completed");
    assert_eq!((worker.stop().0, server.stop().0), (Some(130), Some(130)));
}

#[test]
fn a_store_that_goes_away_is_waited_for() {
    let postgres = Postgres::start().unwrap();
    let shared = Shared { store: postgres.database().unwrap(), ..Shared::sqlite() };
    let mut server = Server::start(&shared, &["serve", "--places", "1", "--lease", "6s"]);
    postgres.stop().unwrap();
    server.logs("WARN a pass could not be finished; trying again");
    postgres.start_again().unwrap();
    shared.trigger();
    assert_eq!(told(&shared, "run.finalised", 1)[0]["data"]["result"], "UNMATCHED");
    assert_eq!(server.stop().0, Some(130));
}

#[test]
fn a_second_interrupt_ends_at_once() {
    let shared = Shared::sqlite();
    shared.let_the_bank_wait();
    let id = shared.trigger().to_string();
    let mut server = Server::start(&shared, &["serve", "--places", "1"]);
    told(&shared, "run.extraction.started", 2);
    server.interrupt();
    server.logs("INFO stopping");
    // The next may be too soon to be another.
    let code = loop {
        if let Some(ended) = server.child.try_wait().unwrap() {
            break ended.code();
        }
        server.interrupt();
    };
    let last = server.log.map(Result::unwrap).last();
    assert_eq!((code, last), (Some(130), None), "it did not stop in order");
    assert_eq!(shared.json(&["runs", "show", &id, "--json"])["status"], "running");
}

#[test]
fn a_service_that_is_stopped_whole_hands_back_what_it_has() {
    let mut leaving = Vec::new();
    // Both are told before the first is waited for: they wait for what is under way first.
    for shared in [Shared::sqlite(), Shared::postgres()] {
        let bank = std::fs::read(shared.place.path().join("bank.csv")).unwrap();
        shared.let_the_bank_wait();
        let runs = [shared.trigger(), shared.trigger()];
        let server = Server::start(&shared, &["serve", "--places", "2"]);
        told(&shared, "run.extraction.started", 2 * runs.len());
        assert_eq!(server.signal_all("TERM"), runs.len());
        leaving.push((shared, server, runs, bank, Instant::now()));
    }
    for (shared, mut server, runs, bank, since) in leaving {
        server.logs("INFO stopped");
        assert_eq!(server.child.wait().unwrap().code(), Some(130));
        assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
        let status = |id: &RunId| shared.json(&["runs", "show", &id.to_string(), "--json"])["status"].clone();
        assert_eq!(runs.each_ref().map(status), ["scheduled", "scheduled"]);
        std::fs::remove_file(shared.place.path().join("bank.csv")).unwrap();
        std::fs::write(shared.place.path().join("bank.csv"), bank).unwrap();
        let next = Server::start(&shared, &["serve"]);
        told(&shared, "run.finalised", runs.len());
        assert_eq!(runs.each_ref().map(status), ["completed", "completed"]);
        let errors = shared.shown(&["events", "tail", "--json", "--type", "run.errored"]);
        assert_eq!(errors, "exit 0\n", "no attempt has died");
        assert_eq!(next.stop().0, Some(130));
    }
}

#[test]
fn an_interrupt_and_its_echo_are_one() {
    let shared = Shared::sqlite();
    let mut server = Server::start(&shared, &["serve", "--places", "0"]);
    let id = server.child.id().to_string();
    // Two of one kind may be delivered as one.
    let both = "kill -s TERM $0; kill -s INT $0";
    assert!(Command::new("sh").args(["-c", both, &id]).status().unwrap().success());
    server.logs("INFO stopped");
    assert_eq!(server.child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_second_server_on_a_file_is_refused() {
    let shared = Shared::sqlite();
    let server = Server::start(&shared, &["serve", "--places", "0", "--reconcile-interval", "0"]);
    let refused = shared.shown(&["serve"]);
    assert!(refused.starts_with("exit 2\nerror: cannot open the store sqlite:"), "{refused}");
    assert!(refused.contains("has the store open\nhint: stop it first, or use PostgreSQL"), "{refused}");
    assert_eq!(server.stop().0, Some(130));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let shared = Shared::sqlite();
    let table: [(&[&str], &str); 5] = [
        (&["worker", "--places", "0"], "error: --places 0: a worker without places does nothing"),
        (&["serve", "--lease", "0"], "expected a duration of at least a second"),
        (&["serve", "--reconcile-interval", "soon"], "expected a duration such as 30s, 5m, 1h30m or 2d"),
        (&["serve", "--memory", "lots"], "error: --memory lots: this is no size"),
        (&["serve", "--log", "loud"], "invalid value 'loud' for '--log <LEVEL>'"),
    ];
    for (arguments, expected) in table {
        let refused = shared.shown(arguments);
        assert!(refused.starts_with("exit 2\n") && refused.contains(expected), "{arguments:?}: {refused}");
    }
}

#[test]
fn a_second_process_of_a_name_is_refused() {
    let shared = Shared::postgres();
    let server = Server::start(&shared, &["serve", "--places", "0", "--name", "front"]);
    for command in ["serve", "worker"] {
        let refused = shared.shown(&[command, "--name", "front"]);
        assert!(refused.starts_with("exit 2\nerror: cannot open the store postgres:"), "{refused}");
        assert!(
            refused.contains(
                "another process is called \"front\"\nhint: stop it first, or give this one another name"
            ),
            "{refused}"
        );
    }
    assert_eq!(server.stop().0, Some(130));
}
