//! What a job fails of, and how that is told.

use std::fmt::Write as _;

use trueup_events::{EventType, Payload};

use crate::scene::Scene;

const A: &str = "id,day,n\n1,2026-01-01,1\n2,2026-01-02,2\n";

fn job(bank: &str, more: &str) -> String {
    let key = if more.contains("dimensions") { "" } else { "key: [id]\n" };
    format!("name: a\n{key}sources:\n  ledger: {{file: a.csv}}\n  bank: {bank}\n{more}")
}

/// The source `bank`, other fields of the job, and its file if it has one.
const CASES: [(&str, &str, Option<&str>); 21] = [
    ("{file: b.csv}", "", None),
    ("{file: 'b*.csv'}", "", None),
    ("{file: b.csv}", "", Some("")),
    ("{file: b.csv}", "", Some("id,day,n\n1,2026-01-01\n")),
    ("{file: b.csv}", "", Some("id,day,n\n1,\"2026-01-01,1\n")),
    ("{file: b.csv}", "", Some("id,id,n\n")),
    ("{file: b.csv, format: parquet}", "", Some("PAR1")),
    ("{file: b.csv, encoding: klingon}", "", Some(A)),
    ("{file: b.csv, date_formats: {day: '%d.%m.%Y'}}", "", Some(A)),
    ("{file: b.csv}", "", Some("id,day,n\n1,01/02/2026,1\n2,01/03/2026,1\n")),
    ("{file: b.csv}", "only: [m]\n", Some(A)),
    ("{file: b.csv}", "tolerances: {day: '0.5'}\n", Some(A)),
    ("{file: b.csv}", "duplicates: error\n", Some("id,day,n\n1,2026-01-01,1\n1,2026-01-01,1\n")),
    ("{file: b.csv, filter: m > 1}", "", Some(A)),
    ("{file: b.csv, filter: day > 1}", "", Some(A)),
    ("{file: b.csv, casts: {m: string}}", "", Some(A)),
    ("{file: b.csv, casts: {day: decimal}}", "", Some(A)),
    ("{file: 'https://bank.example.com/*.csv'}", "", None),
    ("{file: b.csv, sheet: May}", "", Some(A)),
    ("{connection: inbox, file: b.csv}", "", None),
    ("{file: b.xlsx, format: excel}", "", None),
];

#[test]
fn each_class_of_error() {
    let mut shown = String::new();
    for (bank, more, content) in CASES {
        let mut files = vec![("a.csv", A)];
        files.extend(content.map(|content| ("b.csv", content)));
        let scene = Scene::new(&files);
        let (told, outcome) = scene.carry_out(&job(bank, more), &[]);
        let errored = |event: &EventType| event.name().ends_with("errored");
        let errored: Vec<&str> =
            told.iter().map(Payload::event_type).filter(errored).map(EventType::name).collect();
        let given = format!("{bank} {}", more.trim().replace('\n', "; "));
        let told = if told.is_empty() { "nothing was told".to_owned() } else { errored.join(" ") };
        writeln!(shown, "{}\n  {}\n  {told}", given.trim_end(), scene.reason(outcome)).unwrap();
        assert_eq!((scene.names_in("run"), scene.names_in("tmp")), (Vec::new(), Vec::new()), "{bank}");
    }
    insta::assert_snapshot!(shown, @r#"
    {file: b.csv}
      SOURCE_MISSING: bank: …/b.csv: no such file or directory; did you mean …/a.csv?
      run.extraction.errored
    {file: 'b*.csv'}
      SOURCE_MISSING: bank: …/b*.csv: no file matches; quote the pattern so that the shell leaves it alone, and check the directory
      run.extraction.errored
    {file: b.csv}
      SOURCE_INVALID: bank: …/b.csv: the file is empty; not even a header is there; an empty source is a header without rows
      run.extraction.errored
    {file: b.csv}
      SOURCE_INVALID: bank: …/b.csv, line 2, column 13: 2 fields where 3 are expected; fields that hold the delimiter or a newline must be quoted; if something else is between or around the fields, set `delimiter` or `quote` of the source
      run.extraction.errored run.stage.errored run.comparison.errored
    {file: b.csv}
      SOURCE_INVALID: bank: …/b.csv, line 2, column 3: the quote opened here is never closed; if quotes mean nothing in it, set `quote` of the source to a character that is not in it
      run.extraction.errored run.stage.errored run.comparison.errored
    {file: b.csv}
      SOURCE_INVALID: bank: …/b.csv, line 1, column 4: two columns are called "id"; rename one, or say that there is no header; if the first line is data, set `no_header: true` of the source
      run.extraction.errored
    {file: b.csv, format: parquet}
      SOURCE_INVALID: bank: …/b.csv: damaged or not supported: EOF: Parquet file too small. Size is 4 but need 8; check that the file was written to its end
      run.extraction.errored
    {file: b.csv, encoding: klingon}
      INVALID_JOB: bank: …/b.csv: no encoding is called "klingon"; try utf-8, utf-16le, latin1 or windows-1252; correct the `encoding` of the source
      run.extraction.errored
    {file: b.csv, date_formats: {day: '%d.%m.%Y'}}
      SOURCE_INVALID: bank: …/b.csv, line 2: column `day`: `2026-01-01` does not fit the declared date format; correct the `date_formats` of the source
      run.extraction.errored run.stage.errored run.comparison.errored
    {file: b.csv}
      INVALID_JOB: bank: …/b.csv, line 2: column `day`: `01/02/2026` may be day first or month first: no value of the column is above 12; declare it for the source: `date_formats: {day: "%d/%m/%Y"}`
      run.stage.errored run.comparison.errored
    {file: b.csv} only: [m]
      INVALID_JOB: no source has a column `m`; there are id, day, n
      run.stage.errored run.comparison.errored
    {file: b.csv} tolerances: {day: '0.5'}
      INVALID_JOB: the tolerance of day does not fit: `day` is compared as date; for 0.5 days write day=0.5d
      run.stage.errored run.comparison.errored
    {file: b.csv} duplicates: error
      COMPARISON_FAILED: bank: 1 key is repeated, for example id=1; allow them with `multiset`, or aggregate them with a measure such as sum(amount)
      run.stage.errored run.comparison.errored
    {file: b.csv, filter: m > 1}
      INVALID_JOB: sources.bank.filter: there is no column `m`; there are id, day, n
      run.extraction.errored
    {file: b.csv, filter: day > 1}
      SOURCE_INVALID: bank: …/b.csv, line 2: filter: column `day`: `2026-01-01` is no number such as 1234.56
      run.extraction.errored run.stage.errored run.comparison.errored
    {file: b.csv, casts: {m: string}}
      INVALID_JOB: sources.bank.casts: there is no column `m`; there are id, day, n
      run.extraction.errored
    {file: b.csv, casts: {day: decimal}}
      SOURCE_INVALID: bank: …/b.csv, line 2: column `day`: `2026-01-01` is no decimal such as 1234.56
      run.extraction.errored run.stage.errored run.comparison.errored
    {file: 'https://bank.example.com/*.csv'}
      INVALID_JOB: sources.bank.file: a web server does not list its files, so that wildcards cannot be matched; name the file
      nothing was told
    {file: b.csv, sheet: May}
      SOURCE_INVALID: bank: …/b.csv: it has no sheets, for it is CSV; leave out the sheet
      run.extraction.errored
    {connection: inbox, file: b.csv}
      INVALID_JOB: connections.inbox: the job does not define it
      nothing was told
    {file: b.xlsx, format: excel}
      SOURCE_MISSING: bank: …/b.xlsx: no such file or directory
      run.extraction.errored
    "#);
}

#[test]
fn a_failure_is_told_to_whoever_was_told_of_the_start() {
    let ragged = "id,day,n\n1,2026-01-01,1\n2,2026-01-02\n";
    let scene = Scene::new(&[("a.csv", A), ("b.csv", ragged)]);
    let (told, outcome) = scene.carry_out(&job("{file: b.csv}", ""), &[]);
    insta::assert_snapshot!(scene.shown(&told), @r#"
    run.extraction.started {"extraction_index":0,"connection_type":"file","source_name":"ledger"}
    run.extraction.started {"extraction_index":1,"connection_type":"file","source_name":"bank"}
    run.comparison.started {"input_source_count":2}
    run.stage.started {"stage_name":"all"}
    run.extraction.errored {"extraction_index":1,"error":{"code":"QUERY_FAILED","message":"bank: …/b.csv, line 3, column 13: 2 fields where 3 are expected; fields that hold the delimiter or a newline must be quoted; if something else is between or around the fields, set `delimiter` or `quote` of the source"}}
    run.stage.errored {"stage_name":"all","error":{"code":"QUERY_FAILED","message":"bank: …/b.csv, line 3, column 13: 2 fields where 3 are expected; fields that hold the delimiter or a newline must be quoted; if something else is between or around the fields, set `delimiter` or `quote` of the source"}}
    run.comparison.errored {"error":{"code":"QUERY_FAILED","message":"bank: …/b.csv, line 3, column 13: 2 fields where 3 are expected; fields that hold the delimiter or a newline must be quoted; if something else is between or around the fields, set `delimiter` or `quote` of the source"}}
    "#);
    insta::assert_snapshot!(scene.reason(outcome), @"SOURCE_INVALID: bank: …/b.csv, line 3, column 13: 2 fields where 3 are expected; fields that hold the delimiter or a newline must be quoted; if something else is between or around the fields, set `delimiter` or `quote` of the source");
}

#[test]
fn a_run_without_a_place_for_its_breaks_reads_nothing() {
    let scene = Scene::new(&[("a.csv", A), ("b.csv", A)]);
    std::fs::remove_dir(scene.path("run")).unwrap();
    let (told, outcome) = scene.carry_out(&job("{file: b.csv}", ""), &[]);
    insta::assert_snapshot!(scene.reason(outcome), @"COMPARISON_FAILED: cannot write the breaks to …/run/all.parquet: No such file or directory (os error 2); make the directory first");
    assert_eq!(told, []);
}

#[test]
fn values_that_lead_elsewhere_are_refused() {
    let scene = Scene::new(&[("a.csv", A), ("in/b.csv", A), ("b.csv", A)]);
    let text = job("{file: 'in/{{ params.name }}.csv'}", "params: {name: {type: string}}\n");
    assert!(scene.carry_out(&text, &[("name", "b")]).1.is_ok());
    let (told, outcome) = scene.carry_out(&text, &[("name", "../b")]);
    insta::assert_snapshot!(scene.reason(outcome), @"INVALID_JOB: sources.bank.file: `{{ params.name }}` in a path: the value has a '/', which would lead elsewhere");
    assert_eq!(told, []);
}
