//! `trueup runs` and `trueup status`: what they show, change and refuse.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use trueup_store::{Clock, Pass};

use crate::place::shown;
use crate::shared_store::{JOB, Shared, masked};

#[test]
fn a_run_that_waits_is_listed_and_cancelled_by_the_start_of_its_id() {
    for shared in [Shared::sqlite(), Shared::postgres()] {
        let id = shared.trigger().to_string();
        let start = &id[..30];
        let cancelled = shared.shown(&["runs", "cancel", start, "--reason", "not today"]);
        assert_eq!(cancelled, format!("exit 0\n{id} is cancelled\n"));
        assert_eq!(shared.shown(&["runs", "cancel", &id]), cancelled, "a second cancel says the same");
        insta::allow_duplicates! {
            insta::assert_snapshot!(masked(&shared.shown(&["runs", "show", start])), @r#"
            exit 0
            run ID1
            job cut-over, revision 1
            params {}
            queue default
            requested TIME by ann
            status cancelled
            finished TIME, SPAN after it was requested
            cancel asked for by ann at TIME: not today

            Events
              TIME run.triggered mode=IMMEDIATE triggered_by=ann
              TIME execution.requested queue=default
              TIME run.cancel_requested cancelled_by=ann reason="not today"
              TIME run.cancelled cancelled_by=ann reason="not today"
              TIME execution.completed state=cancelled
            "#);
        }
        let shown = shared.json(&["runs", "show", start, "--json"]);
        assert_eq!(
            (&shown["status"], &shown["cancel"]["reason"]),
            (&"cancelled".into(), &"not today".into())
        );
        let types: Vec<&str> =
            shown["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!(types.last(), Some(&"io.datarecs.reconciliation.execution.completed"));
    }
}

#[test]
fn lists_are_of_what_was_asked_for() {
    let shared = Shared::sqlite();
    let (first, second) = (shared.trigger(), shared.trigger());
    shared.shown(&["runs", "cancel", &first.to_string()]);
    let ids = |more: &[&str]| {
        let list = shared.json(&[&["runs", "list", "--json"], more].concat());
        list.as_array()
            .unwrap()
            .iter()
            .map(|run| run["run_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let (first, second) = (first.to_string(), second.to_string());
    let table: [(&[&str], &[&String]); 6] = [
        (&[], &[&second, &first]),
        (&["--limit", "1"], &[&second]),
        (&["--job", "cut-over"], &[&second, &first]),
        (&["--status", "cancelled"], &[&first]),
        (&["--status", "cancelled,requested"], &[&second, &first]),
        (&["--status", "running", "--job", "cut-over"], &[]),
    ];
    for (more, expected) in table {
        assert_eq!(ids(more).iter().collect::<Vec<_>>(), expected, "{more:?}");
    }
    assert_eq!(shared.shown(&["runs", "list", "--status", "running"]), "exit 0\nthere are no such runs\n");
}

#[test]
fn a_retry_is_a_new_run_with_the_same_arguments() {
    let shared = Shared::sqlite();
    let job = format!("{JOB}params: {{date: {{type: date, default: \"{{{{ today }}}}\"}}}}\n");
    fs::write(shared.place.path().join("job.yaml"), &job).unwrap();
    shared.shown(&["run", "job.yaml", "-q"]);
    let list = || shared.json(&["runs", "list", "--json"]);
    let old = list()[0].clone();
    let id = old["run_id"].as_str().unwrap();
    let retried = shared.shown(&["runs", "retry", id, id]);
    let new = list()[0].clone();
    assert_eq!(retried, format!("exit 0\n{id} is retried as {}\n", new["run_id"].as_str().unwrap()));
    assert_eq!((&new["params"], &new["status"]), (&old["params"], &"requested".into()));
    let unended = shared.shown(&["runs", "retry", new["run_id"].as_str().unwrap()]);
    assert!(
        unended.contains("has not ended: it is requested\nhint: wait for its end, or cancel it first"),
        "{unended}"
    );
}

#[test]
fn all_that_ended_so_are_retried_once() {
    let shared = Shared::sqlite();
    let job = format!("{JOB}params: {{date: {{type: date}}}}\n");
    fs::write(shared.place.path().join("job.yaml"), job.replace("bank.csv", "missing.csv")).unwrap();
    for date in ["2026-01-01", "2026-01-02", "2026-01-01"] {
        let ran = shared.shown(&["run", "job.yaml", "-q", "--param", &format!("date={date}")]);
        assert!(ran.starts_with("exit 2\n"), "{ran}");
    }
    let failed = shared.json(&["runs", "list", "--json"])[0]["run_id"].as_str().unwrap().to_owned();
    let cancelled = shared.shown(&["runs", "cancel", &failed]);
    assert!(cancelled.contains("has ended already: it ended as failed: SOURCE_MISSING: "), "{cancelled}");
    let retried = shared.shown(&["runs", "retry", "--status", "failed"]);
    assert_eq!(masked(&retried), "exit 0\nID1 is retried as ID2\nID3 is retried as ID4\n");
    let list = shared.json(&["runs", "list", "--json", "--status", "requested"]);
    let dates: Vec<&str> =
        list.as_array().unwrap().iter().map(|run| run["params"]["date"].as_str().unwrap()).collect();
    assert_eq!(
        dates,
        ["2026-01-01", "2026-01-02"],
        "in the order in which they were asked for, and each once"
    );
    let again = shared.shown(&["runs", "retry", "--status", "failed", "--job", "cut-over"]);
    assert_eq!(again, "exit 0\nthere is nothing to retry\n");

    fs::write(shared.place.path().join("job.yaml"), JOB).unwrap();
    shared.shown(&["run", "job.yaml", "-q"]);
    let unfit = shared.shown(&["runs", "retry", "--status", "failed"]);
    let warning = "cannot be retried: its params: there is no parameter `date`; the job has none\n";
    assert_eq!(unfit.matches(warning).count(), 3, "{unfit}");
    assert!(
        unfit.starts_with("exit 0\nwarning: ") && unfit.ends_with("there is nothing to retry\n"),
        "{unfit}"
    );
    let named = shared.shown(&["runs", "retry", list[0]["run_id"].as_str().unwrap()]);
    assert!(named.starts_with("exit 2\nerror: the run "), "{named}");
}

#[test]
fn what_a_full_queue_takes_of_many_retries_is_told_with_what_it_does_not() {
    let shared = Shared::sqlite();
    let old: Vec<String> = (0..4).map(|_| shared.trigger().to_string()).collect();
    for id in &old {
        shared.shown(&["runs", "cancel", id]);
    }
    shared.shown(&["queues", "set", "default", "--max-waiting", "2"]);
    let ids: Vec<&str> = old.iter().map(String::as_str).collect();
    let retried = shared.shown(&[&["runs", "retry"], &ids[..]].concat());
    insta::assert_snapshot!(masked(&retried), @r#"
    exit 2
    ID1 is retried as ID2
    ID3 is retried as ID4
    not retried: ID5 ID6
    error: the queue "default" is full: 2 runs wait already, and 2 may
    hint: try again when some have started, or let more wait: trueup queues set default --max-waiting N
    "#);
    let waiting = shared.json(&["runs", "list", "--json", "--status", "requested"]);
    assert_eq!(waiting.as_array().unwrap().len(), 2, "{waiting}");
}

#[test]
fn the_status_of_a_store_is_shown() {
    for shared in [Shared::sqlite(), Shared::postgres()] {
        shared.trigger();
        let status = shared.shown(&["status"]);
        let lines: Vec<&str> = status.lines().skip(1).collect();
        assert!(lines[0].starts_with("store  ") && lines[0].contains(&shared.store), "{status}");
        let below = lines[2..].join("\n");
        assert_eq!(
            below,
            "\nQueues\n  queue    waiting  max waiting  scheduled  running  max running\n  default        1            -          0        0            -\n\nno background task has reported yet: `trueup serve` runs them"
        );
        let status = shared.json(&["status", "--json"]);
        assert_eq!(status["queues"][0]["waiting"], 1);
        assert_eq!(status["store"]["place"], shared.store.as_str());
    }
}

#[test]
fn a_server_that_is_not_heard_of_is_missed() {
    for shared in [Shared::sqlite(), Shared::postgres()] {
        let worker = Pass {
            task: "worker".to_owned(),
            instance: "back".to_owned(),
            at_ms: 0,
            took_ms: 1,
            seen: 0,
            done: 0,
            note: None,
        };
        shared.with_store(async |store, _| store.note_pass(worker.clone()).await.unwrap());
        let status = shared.shown(&["status"]);
        assert!(status.contains("\nno server has been heard of: nothing moves"), "{status}");
        let pass = Pass { task: "executor".to_owned(), instance: "gone".to_owned(), ..worker };
        let long_ago = Clock::ByHand(Arc::new(AtomicI64::new(1_700_000_000_000)));
        shared.with_store_at(long_ago, async |store, _| store.note_pass(pass.clone()).await.unwrap());
        let status = shared.shown(&["status"]);
        assert!(status.contains("\nno server has been heard of for "), "{status}");
        let pass = Pass { instance: "here".to_owned(), ..pass };
        shared.with_store(async |store, _| store.note_pass(pass).await.unwrap());
        let status = shared.shown(&["status"]);
        assert!(!status.contains("no server"), "{status}");
    }
}

#[test]
fn what_is_not_there_is_named() {
    let shared = Shared::sqlite();
    let missing = shared.shown(&["runs", "list"]);
    assert!(missing.starts_with("exit 2\nerror: there is no store "), "{missing}");
    assert!(missing.contains("hint: check the path;"), "{missing}");
    let nowhere = shown(shared.place.trueup(&["runs", "list"]).output().unwrap());
    assert!(nowhere.contains("hint: nothing was run yet: `trueup run JOB.YAML` makes it"), "{nowhere}");
    shared.trigger();
    shared.trigger();
    let cases: [(&[&str], &str); 14] = [
        (&["runs", "show", "0"], "error: more than one run starts with 0:\n  "),
        (
            &["runs", "show", "f"],
            "error: there is no run f\nhint: `trueup runs list` shows those that there are",
        ),
        (&["runs", "cancel", "last"], "error: \"last\" is no id of a run, nor the start of one"),
        (
            &["runs", "list", "--job", "x"],
            "error: there is no job named \"x\"\nhint: the latest runs are of cut-over",
        ),
        (&["runs", "list", "--job", "cutover"], "hint: did you mean cut-over?"),
        (&["runs", "retry", "--status", "failed", "--job", "cut-oevr"], "hint: did you mean cut-over?"),
        (&["runs", "list", "--status", "lost"], "expected one of requested, scheduling"),
        (
            &["runs", "retry", "--status", "failed,completed"],
            "error: --status completed: such a run has a result",
        ),
        (&["runs", "retry", "--status", "running"], "error: --status running: such a run has not ended"),
        (&["events", "tail", "--type", "run.done"], "error: --type run.done: there is no such type of event"),
        (
            &["events", "tail", "--type", "nope"],
            "error: --type nope: there is no such type of event\nhint: write one of run.triggered,",
        ),
        (&["events", "tail", "--type", "run.finalized"], "hint: did you mean run.finalised?"),
        (&["events", "tail", "--type", "extraction.started"], "hint: did you mean run.extraction.started?"),
        (&["events", "tail", "--run", "f"], "error: there is no run f"),
    ];
    for (arguments, expected) in cases {
        let refused = shared.shown(arguments);
        assert!(refused.starts_with("exit 2\n") && refused.contains(expected), "{arguments:?}: {refused}");
    }
}

#[test]
fn what_is_proposed_names_the_store_that_was_given() {
    let shared = Shared::sqlite();
    let given = |arguments: &[&str]| {
        shown(shared.place.trueup(arguments).args(["--store", "sqlite:store.db"]).output().unwrap())
    };
    let missing = given(&["status"]);
    let makes = "hint: check the path; `trueup serve --store sqlite:store.db` makes one\n";
    assert!(missing.contains(makes), "{missing}");
    shared.with_store(async |_, _| ());
    let no_job = given(&["runs", "list", "--job", "x"]);
    let saves = "hint: `trueup run JOB.YAML --store sqlite:store.db` saves a job and runs it\n";
    assert!(no_job.contains(saves), "{no_job}");
    let id = shared.trigger().to_string();
    let shows = format!("hint: `trueup runs show {id} --store sqlite:store.db` shows how it stands\n");
    let cases: [(&[&str], &str); 4] = [
        (
            &["runs", "show", "f"],
            "hint: `trueup runs list --store sqlite:store.db` shows those that there are\n",
        ),
        (&["runs", "cancel", "last"], "hint: `trueup runs list --store sqlite:store.db` shows them\n"),
        (&["runs", "breaks", &id], &shows),
        (
            &["status"],
            "no background task has reported yet: `trueup serve --store sqlite:store.db` runs them\n",
        ),
    ];
    for (arguments, expected) in cases {
        let said = given(arguments);
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    let worker = Pass {
        task: "worker".to_owned(),
        instance: "back".to_owned(),
        at_ms: 0,
        took_ms: 1,
        seen: 0,
        done: 0,
        note: None,
    };
    shared.with_store(async |store, _| store.note_pass(worker).await.unwrap());
    let alone = given(&["status"]);
    assert!(alone.contains("nothing moves unless `trueup serve --store sqlite:store.db` runs\n"), "{alone}");
}

#[test]
fn a_store_that_is_away_is_named_without_its_password() {
    let shared = Shared::sqlite();
    let store = "postgres://ann:hunter2@localhost:1/none";
    let commands: [&[&str]; 6] = [
        &["serve"],
        &["worker"],
        &["status"],
        &["runs", "list"],
        &["events", "tail", "--follow"],
        &["audit", "verify"],
    ];
    for arguments in commands {
        let output = shared.place.trueup(arguments).args(["--store", store]).output().unwrap();
        let refused = shown(output);
        assert!(
            refused.starts_with(
                "exit 2\nerror: cannot open the store postgres://ann@localhost:1/none: the store is away"
            ),
            "{refused}"
        );
        assert!(!refused.contains("hunter2"), "{refused}");
    }
}

#[test]
fn a_damaged_store_is_named_and_left_as_it_is() {
    const PAGE: usize = 4096;
    let shared = Shared::sqlite();
    fs::write(shared.place.path().join("job.yaml"), JOB).unwrap();
    let run_id = shared.trigger().to_string();
    let path = shared.place.path().join("store.db");
    let whole = fs::read(&path).unwrap();
    let commands: [&[&str]; 7] = [
        &["status"],
        &["runs", "list"],
        &["runs", "show", &run_id],
        &["runs", "cancel", &run_id],
        &["queues", "set", "default", "--max-running", "3"],
        &["run", "job.yaml"],
        &["worker"],
    ];
    for pages in [3..6, 6..whole.len() / PAGE] {
        let mut damaged = whole.clone();
        damaged[pages.start * PAGE..pages.end * PAGE].fill(0xa5);
        fs::write(&path, &damaged).unwrap();
        for arguments in commands {
            let refused = shared.shown(arguments);
            let names_it = refused.contains(&format!("the store {}: the store is damaged: ", shared.store));
            assert!(refused.starts_with("exit 2\n") && names_it, "{arguments:?}, {pages:?}: {refused}");
            assert!(fs::read(&path).unwrap() == damaged, "{arguments:?}, {pages:?}: it was changed");
        }
    }
}

#[test]
fn every_option_is_in_the_docs() {
    let docs = include_str!("../../../../docs/running.md");
    let shared = Shared::sqlite();
    let commands = [
        "run",
        "check",
        "serve",
        "worker",
        "runs list",
        "runs show",
        "runs cancel",
        "runs retry",
        "runs breaks",
        "queues list",
        "queues set",
        "events tail",
        "status",
    ];
    for command in commands {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = shared.shown(&words);
        let options = help.split_whitespace().filter(|word| word.starts_with("--") && *word != "--help");
        for option in options.map(|word| word.trim_end_matches(|c: char| !c.is_ascii_lowercase())) {
            assert!(docs.contains(&format!("`{option}")), "{option} of {command} is not in docs/running.md");
        }
        assert!(docs.contains(command), "{command}");
    }
}
