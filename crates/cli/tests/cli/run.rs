//! `trueup run`: a job from its file to its verdict, and what is remembered of it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use trueup_testkit::Postgres;

use crate::place::{Place, shown, with};
use crate::shared_store::{JOB, Shared, masked};

#[test]
fn a_job_is_run_and_remembered() {
    for shared in [Shared::sqlite(), Shared::postgres()] {
        fs::write(shared.place.path().join("job.yaml"), JOB).unwrap();
        insta::allow_duplicates! {
            insta::assert_snapshot!(masked(&shared.shown(&["run", "job.yaml"])), @r"
            exit 1
            UNMATCHED: 1 of 5 groups match, 2 outside a tolerance, 2 absent somewhere

            Sources
              source rows unmatched
              ledger 4 1
              bank 4 1

            Stages
              stage result rows
              all UNMATCHED 8

            Measures
              stage measure rule within outside passed
              all amount ABSOLUTE 0.01 2 1 no
              all ccy EXACT 3 0 yes
              all note EXACT 2 1 no

            run ID1
            `trueup runs breaks ID1` shows what differs
            ");
            insta::assert_snapshot!(masked(&shared.shown(&["runs", "list"])), @r"
            exit 0
              run job requested took status outcome
              ID1 cut-over TIME SPAN completed UNMATCHED
            ");
            let list = shared.json(&["runs", "list", "--json"]);
            let id = list[0]["run_id"].as_str().unwrap();
            let shown = masked(&shared.shown(&["runs", "show", &id[..30]]));
            // On a busy machine there are more of these.
            let shown: Vec<&str> = shown.lines().filter(|line| !line.contains("run.rows_processed")).collect();
            insta::assert_snapshot!(shown.join("\n"), @r#"
            exit 0
            run ID1
            job cut-over, revision 1
            params {}
            queue default
            requested TIME by ann
            status completed
            finished TIME, SPAN after it was requested
            result UNMATCHED

            1 of 5 groups match, 2 outside a tolerance, 2 absent somewhere

            Sources
              source rows unmatched
              ledger 4 1
              bank 4 1

            Stages
              stage result rows
              all UNMATCHED 8

            Measures
              stage measure rule within outside passed
              all amount ABSOLUTE 0.01 2 1 no
              all ccy EXACT 3 0 yes
              all note EXACT 2 1 no

            Events
              TIME run.triggered mode=IMMEDIATE triggered_by=ann
              TIME execution.requested queue=default
              TIME run.queued
              TIME execution.scheduled epoch=1
              TIME execution.status_changed epoch=2 state=running
              TIME run.extraction.started connection_type=file extraction_index=0 source_name=ledger
              TIME run.extraction.started connection_type=file extraction_index=1 source_name=bank
              TIME run.comparison.started input_source_count=2
              TIME run.stage.started stage_name=all
              TIME run.extraction.completed extraction_index=0 rows_extracted=4
              TIME run.extraction.completed extraction_index=1 rows_extracted=4
              TIME run.stage.completed result=UNMATCHED stage_name=all tolerances=[{"measure_name":"am
              TIME run.comparison.completed join_stats={"matched_groups":3,"unmatched_by_source":{"bank":1,
              TIME run.completed result=UNMATCHED
              TIME run.finalised result=UNMATCHED
              TIME execution.status_changed epoch=2 state=completed
              TIME execution.completed state=completed
            "#);
            insta::assert_snapshot!(masked(&shared.shown(&["runs", "cancel", id])), @r"
            exit 2
            error: the run ID1 has ended already: it is completed with UNMATCHED
            hint: nothing was changed
            ");
            insta::assert_snapshot!(shared.shown(&["runs", "breaks", id]), @r#"
            exit 0
              txn_id  occurrence  status     present_in    column  ledger  bank   difference  tolerance  rule
              1       1           outside    ledger, bank  amount  10.00   10.05  0.05        0.01       ABSOLUTE 0.01: ledger against bank
              3       1           unmatched  ledger        amount  30.00                      0.01       absent from bank
              3       1           unmatched  ledger        ccy     USD                                   absent from bank
              3       1           unmatched  ledger        note    c                                     absent from bank
              4       1           outside    ledger, bank  note            ""                            EXACT: ledger against bank
              5       1           unmatched  bank          amount          50.00              0.01       absent from ledger
              5       1           unmatched  bank          ccy             USD                           absent from ledger
              5       1           unmatched  bank          note            e                             absent from ledger
            "#);
            for (form, name) in [("csv", "breaks.csv"), ("jsonl", "breaks.jsonl")] {
                let more = ["--tolerance", "amount=0.01", "--breaks", name];
                shared.place.diff(&with(&more));
                let found = shared.trueup(&["runs", "breaks", id, "--format", form]).output().unwrap().stdout;
                assert_eq!(found, fs::read(shared.place.path().join(name)).unwrap(), "as diff writes them");
            }
        }
    }
}

/// Its numbers are those of the last stage, which has no breaks.
const STRICT_AND_LOOSE: &str = "name: twice
sources: {ledger: {file: ledger.csv}, bank: {file: bank.csv}}
dimensions: [txn_id]
measures: [{name: amount, aggregate: sum}, {name: memo, aggregate: count_distinct}]
stages: [{name: strict}, {name: loose, tolerances: {amount: \"1\"}}]
";

#[test]
fn findings_are_shown_and_breaks_only_where_there_are_some() {
    let shared = Shared::sqlite();
    let run = |job: &str, amount: &str| {
        let write = |name: &str, text: &str| fs::write(shared.place.path().join(name), text).unwrap();
        write("job.yaml", job);
        write("ledger.csv", "txn_id,amount,memo\n1,10.00,a\n2,20.00,b\n");
        write("bank.csv", &format!("txn_id,amount\n1,{amount}\n2,20.00\n"));
        masked(&shared.shown(&["run", "job.yaml"]))
    };
    insta::assert_snapshot!(run(JOB, "10.00"), @r"
    exit 1
    UNMATCHED: 2 of 2 groups match, 1 finding

    Sources
      source rows unmatched
      ledger 2 0
      bank 2 0

    Stages
      stage result rows
      all UNMATCHED 4

    Findings
      memo: missing in bank

    Measures
      stage measure rule within outside passed
      all amount ABSOLUTE 0.01 2 0 yes

    run ID1
    ");
    let list = shared.json(&["runs", "list", "--json"]);
    let shown = masked(&shared.shown(&["runs", "show", list[0]["run_id"].as_str().unwrap()]));
    assert!(shown.contains("\n2 of 2 groups match, 1 finding\n"), "{shown}");
    assert!(shown.contains("\nFindings\n  memo: missing in bank\n"), "{shown}");
    insta::assert_snapshot!(run(STRICT_AND_LOOSE, "10.01"), @r"
    exit 1
    UNMATCHED: 2 of 2 groups match, 1 finding

    Sources
      source rows unmatched
      ledger 2 0
      bank 2 0

    Stages
      stage result rows
      strict UNMATCHED 4
      loose UNMATCHED 4

    Findings
      memo: missing in bank: memo cannot be computed

    Measures
      stage measure rule within outside passed
      strict amount EXACT 1 1 no
      strict memo EXACT 2 0 no
      loose amount ABSOLUTE 1 2 0 yes
      loose memo EXACT 2 0 no

    run ID1
    `trueup runs breaks ID1 --stage strict` shows what differs
    ");
}

/// By currency the sums are within a tolerance that they are not in by transaction.
const DRILLING: &str = "name: drilling
sources: {ledger: {file: ledger.csv}, bank: {file: bank.csv}}
dimensions: [ccy, txn_id]
measures: [{name: amount, aggregate: sum}]
stages: [{name: by currency, dimensions: [ccy], tolerances: {amount: \"20\"}}, {name: by-txn}]
strategy: DRILL_DOWN_ON_FAILURE
";

#[test]
fn stages_that_are_not_reached_are_listed() {
    let shared = Shared::sqlite();
    for (job, stages, more) in [
        (DRILLING.to_owned(), "by currency MATCHED 8\n  by-txn not reached\n", None),
        (DRILLING.replace("20", "19"), "by currency UNMATCHED 8\n  by-txn UNMATCHED 4\n", Some("by-txn")),
    ] {
        fs::write(shared.place.path().join("job.yaml"), job).unwrap();
        let shown = masked(&shared.shown(&["run", "job.yaml"]));
        assert!(shown.contains(&format!("\nStages\n  stage result rows\n  {stages}\n")), "{shown}");
        let hint = more.map(|stage| format!("`trueup runs breaks ID1 --stage {stage}` shows what differs\n"));
        assert!(shown.ends_with(&format!("\nrun ID1\n{}", hint.unwrap_or_default())), "{shown}");
    }
}

#[test]
fn the_store_is_in_the_data_directory_unless_said() {
    let place = Place::with_ledger_and_bank();
    fs::write(place.path().join("job.yaml"), JOB).unwrap();
    let ran = shown(place.trueup(&["run", "job.yaml", "--quiet"]).output().unwrap());
    assert_eq!(ran, "exit 1\nUNMATCHED: 1 of 5 groups match, 2 outside a tolerance, 2 absent somewhere\n");
    let names = |folder: &str| {
        let entries = fs::read_dir(place.path().join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    assert!(names("data/trueup").contains(&"trueup.db".to_owned()));
    let tenant = &names("data/trueup/runs")[0];
    assert!(names(&format!("data/trueup/runs/{tenant}"))[0].starts_with("r-"));
}

#[test]
fn a_changed_job_is_a_new_revision_and_paths_start_at_its_folder() {
    let shared = Shared::sqlite();
    let jobs = shared.place.path().join("jobs");
    fs::create_dir(&jobs).unwrap();
    let job = JOB.replace("file: ", "file: ../");
    for (text, from) in [(&job, "."), (&job, "jobs"), (&job.replace("0.01", "1"), ".")] {
        fs::write(jobs.join("job.yaml"), text).unwrap();
        let path = if from == "." { "jobs/job.yaml" } else { "job.yaml" };
        let mut command = shared.trueup(&["run", path, "--quiet"]);
        let ran = shown(command.current_dir(shared.place.path().join(from)).output().unwrap());
        assert!(ran.starts_with("exit 1\nUNMATCHED: "), "{ran}");
    }
    let list = shared.json(&["runs", "list", "--json"]);
    let revisions: Vec<u64> =
        list.as_array().unwrap().iter().map(|run| run["revision"].as_u64().unwrap()).collect();
    assert_eq!(revisions, [2, 1, 1]);
}

#[test]
fn exit_codes_and_verdict_lines_are_those_of_diff() {
    let shared = Shared::sqlite();
    fs::write(shared.place.path().join("one.csv"), "txn_id,amount\n1,10.00\n").unwrap();
    let cases = [
        (JOB.replace("bank.csv", "ledger.csv"), "exit 0\nMATCHED: 4 of 4 groups match\n"),
        (
            JOB.replace("bank.csv", "one.csv").replace("ledger.csv", "one.csv"),
            "exit 0\nMATCHED: 1 of 1 group matches\n",
        ),
        (JOB.to_owned(), "exit 1\nUNMATCHED: "),
        (JOB.replace("bank.csv", "bnak.csv"), "exit 2\nerror: the run "),
        (JOB.replace("[txn_id]", "[txn]"), "exit 2\nerror: the run "),
    ];
    for (job, expected) in cases {
        fs::write(shared.place.path().join("job.yaml"), job).unwrap();
        let ran = shared.shown(&["run", "job.yaml", "--quiet"]);
        assert!(ran.starts_with(expected), "{ran}");
    }
    let list = shared.json(&["runs", "list", "--json", "--status", "failed"]);
    let reasons: Vec<&str> =
        list.as_array().unwrap().iter().map(|run| run["error"]["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["INVALID_JOB", "SOURCE_MISSING"]);
}

#[test]
fn what_is_proposed_names_the_store_that_was_given() {
    let place = Place::with_ledger_and_bank();
    let cases = [
        (JOB.to_owned(), "`trueup runs breaks ID1 --store 'sqlite:my runs.db'` shows what differs\n"),
        (
            JOB.replace("bank.csv", "bnak.csv"),
            "hint: `trueup runs show ID1 --store 'sqlite:my runs.db'` shows what it told\n",
        ),
        (
            format!("{JOB}queue: heavy\n"),
            "hint: make it: trueup queues set heavy --store 'sqlite:my runs.db'; or let the job",
        ),
    ];
    for (job, expected) in cases {
        fs::write(place.path().join("job.yaml"), job).unwrap();
        let mut run = place.trueup(&["run", "job.yaml", "--store", "sqlite:my runs.db"]);
        let ran = masked(&shown(run.output().unwrap()));
        assert!(ran.contains(expected), "{ran}");
    }
}

#[test]
fn what_cannot_be_run_is_refused_and_not_saved() {
    let place = Place::with_ledger_and_bank();
    let typed = format!("{JOB}params: {{date: {{type: date}}}}\n");
    for (name, job) in [
        ("bad.yaml", JOB.replace("file: bank", "flie: bank").replace("key:", "keys:")),
        ("typed.yaml", typed),
        ("queued.yaml", format!("{JOB}queue: night\n")),
        ("good.yaml", JOB.to_owned()),
    ] {
        fs::write(place.path().join(name), job).unwrap();
    }
    let cases: [&[&str]; 8] = [
        &["missing.yaml"],
        &["bad.yaml"],
        &["typed.yaml"],
        &["typed.yaml", "--param", "date=soon", "--param", "day=1"],
        &["typed.yaml", "--param", "date"],
        &["good.yaml", "--store", "ledger.db"],
        &["good.yaml", "--store", "mysql://ann:hunter2@localhost/none"],
        &["good.yaml", "--store", "postgres://ann:hunter2@localhost:1/none"],
    ];
    let refused: Vec<String> = (cases.iter())
        .map(|more| {
            let output = place.trueup(&[&["run"], *more].concat()).output().unwrap();
            format!("{}\n{}", more.join(" ").replace("hunter2", "…"), shown(output))
        })
        .collect();
    insta::assert_snapshot!(refused.join("\n"), @r#"
    missing.yaml
    exit 2
    error: cannot read the job missing.yaml: No such file or directory (os error 2)
    hint: check the path

    bad.yaml
    exit 2
    error: bad.yaml is no job that can be run:
      bad.yaml:1:1: `dimensions` or `key` is missing: what rows are grouped by
      bad.yaml:4:3: sources.bank: one of `query`, `table` and `file` is missing
      bad.yaml:4:10: sources.bank.flie: there is no such field; did you mean `file`?
      bad.yaml:5:1: keys: there is no such field; did you mean `key`?
    hint: nothing was saved; docs/jobs.md says what a job has

    typed.yaml
    exit 2
    error: the parameter `date` is missing: expected a date such as 2026-01-31
    hint: give parameters as --param NAME=VALUE

    typed.yaml --param date=soon --param day=1
    exit 2
    error: there is no parameter `day`; expected date
    the parameter `date` is "soon": expected a date such as 2026-01-31
    hint: give parameters as --param NAME=VALUE

    typed.yaml --param date
    exit 2
    error: --param date: there is no =
    hint: write NAME=VALUE

    good.yaml --store ledger.db
    exit 2
    error: --store: "ledger.db" names no store: write sqlite:PATH or postgres://USER@HOST/DATABASE

    good.yaml --store mysql://ann:…@localhost/none
    exit 2
    error: --store: "mysql://ann@localhost/none" names no store: write sqlite:PATH or postgres://USER@HOST/DATABASE

    good.yaml --store postgres://ann:…@localhost:1/none
    exit 2
    error: cannot open the store postgres://ann@localhost:1/none: the store is away while opening the store: error connecting to server: Connection refused (os error 111)
    hint: check that the database is up and can be reached; nothing was half-written
    "#);
    assert!(!place.path().join("data/trueup/trueup.db").exists(), "nothing was saved");
    let queued = shown(place.trueup(&["run", "queued.yaml"]).output().unwrap());
    assert_eq!(
        queued,
        "exit 2\nerror: there is no queue named \"night\"\nhint: make it: trueup queues set night; or let the job use the queue `default`\n"
    );
}

#[test]
fn parameters_choose_files_and_are_remembered() {
    let shared = Shared::sqlite();
    let job = JOB.replace("file: bank.csv", "file: \"{{ params.side }}.csv\"");
    fs::write(
        shared.place.path().join("job.yaml"),
        format!("{job}params: {{side: {{type: string, default: bank}}}}\n"),
    )
    .unwrap();
    let matched = shared.shown(&["run", "job.yaml", "-q", "--param", "side=ledger"]);
    assert_eq!(matched, "exit 0\nMATCHED: 4 of 4 groups match\n");
    assert!(shared.shown(&["run", "job.yaml", "-q"]).starts_with("exit 1\n"));
    let list = shared.json(&["runs", "list", "--json"]);
    assert_eq!((&list[0]["params"]["side"], &list[1]["params"]["side"]), (&"bank".into(), &"ledger".into()));
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

/// Starts a run whose bank does not answer, and waits until both sources are read.
#[cfg(unix)]
fn a_run_that_waits(shared: &Shared) -> Child {
    shared.let_the_bank_wait();
    fs::write(shared.place.path().join("job.yaml"), JOB).unwrap();
    // There is a store, so that the log can be followed from before the run.
    shared.with_store(async |_, _| ());
    let mut tail = shared
        .trueup(&["events", "tail", "--follow", "--type", "run.extraction.started"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut run = shared.trueup(&["run", "job.yaml", "--log", "off"]);
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    assert!((0..2).all(|_| lines.next().unwrap().unwrap().contains("run.extraction.started")));
    interrupt(&tail);
    assert_eq!(tail.wait().unwrap().code(), Some(130));
    run
}

#[cfg(unix)]
#[test]
fn an_interrupt_while_the_store_is_away_is_tried_again() {
    let postgres = Postgres::start().unwrap();
    for comes_back in [true, false] {
        let shared = Shared { store: postgres.database().unwrap(), ..Shared::sqlite() };
        let mut run = a_run_that_waits(&shared);
        postgres.hide().unwrap();
        interrupt(&run);
        let mut stderr = BufReader::new(run.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert_eq!(stderr.next().unwrap(), "cancelling; Ctrl-C again ends at once");
        let warning = stderr.next().unwrap();
        assert!(
            warning.starts_with("warning: the store is away") && warning.ends_with("; trying again"),
            "{warning}"
        );
        if comes_back {
            postgres.show().unwrap();
        }
        let rest = masked(&stderr.collect::<Vec<_>>().join("\n"));
        assert_eq!(run.wait().unwrap().code(), Some(130));
        if !comes_back {
            assert!(rest.starts_with("error: interrupted; the run ID1 has not ended yet\nhint: "), "{rest}");
            postgres.show().unwrap();
        }
        let list = shared.json(&["runs", "list", "--json"]);
        assert_eq!(list[0]["status"], if comes_back { "cancelled" } else { "running" }, "{rest}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_cancels_the_run() {
    let shared = Shared::sqlite();
    let run = a_run_that_waits(&shared);
    interrupt(&run);
    let ended = masked(&shown(run.wait_with_output().unwrap()));
    assert_eq!(ended, "exit 130\ncancelling; Ctrl-C again ends at once\nthe run ID1 was cancelled by ann\n");
    let list = shared.json(&["runs", "list", "--json"]);
    assert_eq!(
        (&list[0]["status"], &list[0]["cancel"]["reason"]),
        (&"cancelled".into(), &"interrupted".into())
    );
}
