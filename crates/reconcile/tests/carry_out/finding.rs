//! What a job finds: parameters, declarations of sources, findings told, and the breaks read back.

use trueup_events::Payload;
use trueup_events::outcome::Verdict;
use trueup_reconcile::breaks::{self, StoredBreaks};

use crate::scene::Scene;

const SOURCES: &str = "
name: declared
params: {day: {type: date, default: '{{ today - 1d }}'}}
connections: {inbox: {type: file, path: 'in [x]'}}
sources:
  - name: ledger
    file: '{{ params.day }}/ledger*.csv'
    timezone: Europe/Berlin
  - name: bank
    connection: inbox
    file: 'bank-{{ params.day | format(\"%Y%m%d\") }}.t*'
    format: csv
    delimiter: ';'
    quote: \"'\"
    encoding: latin1
    empty: 'null'
    no_header: true
    columns: {column_0: id, column_1: booked, column_2: at, column_3: note}
    date_formats: {booked: '%d/%m/%Y'}
    timezone: '+00:00'
key: [id]
tolerances: {note: {type: EXACT, normalise: [casefold]}}
";

#[test]
fn what_is_declared_of_a_source_counts() {
    let ledger =
        "id,booked,at,note\n1,2026-01-02,2026-01-02 13:00:00,GRÖSSE\n2,2026-01-03,2026-01-02 14:00:00,\n";
    let scene = Scene::new(&[("2026-01-14/ledger-1.csv", ledger)]);
    std::fs::create_dir(scene.path("in [x]")).unwrap();
    let bank = b"1;02/01/2026;2026-01-02 12:00:00;'gr\xf6sse'\n2;03/01/2026;2026-01-02 13:00:00;''\n";
    std::fs::write(scene.path("in [x]/bank-20260114.txt"), bank).unwrap();
    let (_, outcome) = scene.carry_out(SOURCES, &[]);
    assert_eq!(outcome.unwrap().verdict, Verdict::Matched);
    let (_, outcome) = scene.carry_out(SOURCES, &[("day", "2026-01-13")]);
    let missing = scene.reason(outcome);
    assert!(missing.starts_with("SOURCE_MISSING: ledger: …/2026-01-13/ledger*.csv: "), "{missing}");
}

const PAIR: &str = "{name: pair, key: [id], sources: {a: {file: a.csv}, b: {file: b.csv}}}";

const BY_SIDE: &str = "
name: by-side
sources: {a: {file: a.csv}, b: {file: b.csv}}
dimensions: [side, id]
measures: [{name: n, aggregate: sum}, {name: only, aggregate: count_distinct}]
stages: [{name: sides, dimensions: [side]}, {name: ids}]
";

#[test]
fn findings_are_told_once() {
    let a = "side,id,n,only\nL,1,1,x\n";
    let (alike, lacking, worded) = (a, "side,id,n\nL,1,1\n", "side,id,n,only\nL,1,one,x\n");
    let cases: [(&str, &str, &[&str]); 5] = [
        (PAIR, alike, &[]),
        (PAIR, lacking, &["only: missing in b"]),
        (PAIR, worded, &["n: number in a, text in b: compared as text"]),
        (BY_SIDE, alike, &[]),
        (BY_SIDE, lacking, &["only: missing in b: only cannot be computed"]),
    ];
    for (job, b, expected) in cases {
        let scene = Scene::new(&[("a.csv", a), ("b.csv", b)]);
        let (told, outcome) = scene.carry_out(job, &[]);
        let Some(Payload::ComparisonCompleted(completed)) = told.last() else { panic!("{told:?}") };
        assert_eq!(completed.findings, expected);
        assert_eq!(completed.check(), Ok(()));
        let verdict = if expected.is_empty() { Verdict::Matched } else { Verdict::Unmatched };
        assert_eq!((outcome.unwrap().verdict, completed.result), (verdict, verdict));
    }
}

#[test]
fn a_finding_that_not_all_stages_have_is_told_with_its_stage() {
    let scene = Scene::new(&[("a.csv", "side,id,n,only\nL,x,1,x\n")]);
    let database = rusqlite::Connection::open(scene.path("b.db")).unwrap();
    database.execute_batch("create table b as select 'L' as side, 1 as id, 1 as n, 'x' as only_").unwrap();
    let typed = "connections: {b: {type: sqlite, path: b.db}}\n";
    let source = "b: {connection: b, query: 'select side, id, n, only_ from b', columns: {only_: only}}";
    let job = BY_SIDE.replace("b: {file: b.csv}", source) + typed;
    let (told, outcome) = scene.carry_out(&job, &[]);
    assert_eq!(outcome.unwrap().verdict, Verdict::Unmatched);
    let Some(Payload::ComparisonCompleted(completed)) = told.last() else { panic!("{told:?}") };
    assert_eq!(completed.findings, ["ids: id: text in a, number in b: compared as text"]);
}

#[test]
fn breaks_are_read_back() {
    let scene = Scene::new(&[("a.csv", "id,n\n1,1\n2,\n4,4\n"), ("b.csv", "id,n\n1,2\n3,\"\"\n4,4\n")]);
    scene.carry_out(PAIR, &[]).1.unwrap();
    let stored = || StoredBreaks::open(&breaks::file(&scene.path("run"), "all").unwrap()).unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let mut csv = Vec::new();
    stored().write_csv(usize::MAX, &mut csv).unwrap();
    insta::assert_snapshot!(text(csv), @r#"
    id,occurrence,status,present_in,column,a,b,difference,tolerance,rule
    1,1,outside,"a, b",n,1,2,,,EXACT: a against b
    2,1,unmatched,a,n,,,,,absent from b
    3,1,unmatched,b,n,,"",,,absent from a
    "#);
    let mut json = Vec::new();
    stored().write_json_lines(1, &mut json).unwrap();
    insta::assert_snapshot!(text(json), @r#"{"id":"1","occurrence":1,"status":"outside","present_in":"a, b","column":"n","a":"1","b":"2","difference":null,"tolerance":null,"rule":"EXACT: a against b"}"#);
    let first: Vec<Option<String>> = stored().first(2).unwrap().swap_remove(1);
    insta::assert_snapshot!(format!("{first:?}"), @r#"[Some("2"), Some("1"), Some("unmatched"), Some("a"), Some("n"), None, None, None, None, Some("absent from b")]"#);
    assert_eq!(stored().columns()[..2], ["id", "occurrence"]);
}

#[test]
fn a_stage_is_a_file_of_the_folder() {
    let folder = std::path::Path::new("run");
    for (stage, file) in [
        ("by-region", "by-region.parquet"),
        ("v1.2 größe", "v1.2 größe.parquet"),
        ("../../etc", "%2E.%2F..%2Fetc.parquet"),
        ("a/b%2F", "a%2Fb%252F.parquet"),
        ("nul\0", "nul%00.parquet"),
    ] {
        assert_eq!(breaks::file(folder, stage).unwrap(), folder.join(file));
    }
    assert!(breaks::file(folder, &"x".repeat(201)).is_err());
}
