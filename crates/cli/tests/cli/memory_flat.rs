//! Reading a source takes as much memory for many rows as for few, measured on the process.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _, pipe};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use rust_xlsxwriter::Workbook;
use serde_json::{Value, json};
use trueup_testkit::{Mariadb, Postgres, S3};

use crate::memory_cap::watched;
use crate::place::Place;

/// Rows of about five hundred bytes: whoever held them would need sixty megabytes more for five times as many.
const ROWS: u64 = 30_000;
/// What else may differ from one run to the next, on a busy machine too.
const SLACK_BYTES: u64 = 35_000_000;

/// A source of so many rows, with the variables of the environment that it refers to.
struct Many {
    connection: Value,
    source: Value,
    variables: Vec<(&'static str, String)>,
}

/// Makes a source of so many rows.
type Make<'a> = dyn Fn(u64) -> Many + 'a;

impl Many {
    fn of_query(kind: &str, url: String, query: &str) -> Self {
        let field = if kind == "odbc" { "connection_string" } else { "url" };
        let connection = json!({ "type": kind, field: "${env:SOURCE_URL}" });
        let source = json!({ "connection": "there", "query": query });
        Self { connection, source, variables: vec![("SOURCE_URL", url)] }
    }

    fn of_file(path: &Path) -> Self {
        let connection = json!({ "type": "file", "path": path.parent() });
        let source = json!({ "connection": "there", "file": path.file_name().unwrap().to_str() });
        Self { connection, source, variables: Vec::new() }
    }
}

/// What is said of every row.
fn note() -> String {
    "long enough to be noticed if somebody keeps it; ".repeat(10)
}

/// A query without a table, as PostgreSQL and SQLite understand it.
fn counted(rows: u64) -> String {
    format!(
        "with recursive n (id) as (select 1 union all select id + 1 from n where id < {rows}) \
         select id, '{}' || id as note from n",
        note()
    )
}

fn csv(place: &Path, rows: u64) -> Many {
    let path = place.join("many.csv");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    writeln!(file, "id,note").unwrap();
    let note = note();
    (1..=rows).for_each(|id| writeln!(file, "{id},{note}{id}").unwrap());
    file.flush().unwrap();
    Many::of_file(&path)
}

/// Its notes are all the same, for a workbook lists the texts of its cells, and that list is kept.
fn excel(place: &Path, rows: u64) -> Many {
    let path = place.join("many.xlsx");
    let mut workbook = Workbook::new();
    let (sheet, note) = (workbook.add_worksheet(), note());
    sheet.write(0, 0, "id").unwrap().write(0, 1, "note").unwrap();
    for row in 1..=u32::try_from(rows).unwrap() {
        sheet.write(row, 0, row).unwrap().write(row, 1, &note).unwrap();
    }
    workbook.save(&path).unwrap();
    Many::of_file(&path)
}

fn parquet_on_s3(server: &S3, rows: u64) -> Many {
    let ids: Vec<i64> = (1..=i64::try_from(rows).unwrap()).collect();
    let note = note();
    let notes = StringArray::from_iter_values(ids.iter().map(|id| format!("{note}{id}")));
    let columns: [(_, arrow_array::ArrayRef); 2] =
        [("id", Arc::new(Int64Array::from(ids))), ("note", Arc::new(notes))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let groups = WriterProperties::builder().set_max_row_group_row_count(Some(10_000)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(groups)).unwrap();
    writer.write(&batch).unwrap();
    let path = format!("lake/{rows}.parquet");
    server.put(&path, &writer.into_inner().unwrap());
    Many {
        connection: json!({ "type": "s3", "region": "us-east-1", "endpoint": server.url(), "access_key_id": "${env:KEY}", "secret_access_key": "${env:KEY}" }),
        source: json!({ "connection": "there", "file": format!("s3://{path}") }),
        variables: vec![("KEY", "reader".to_owned())],
    }
}

/// The largest resident set of an attempt that reads the source twice, and compares the last row.
fn peak(many: &Many, rows: u64) -> u64 {
    let place = Place::new(&[]);
    let source = |name: &str| {
        let mut source = many.source.clone();
        source["name"] = name.into();
        source["filter"] = format!("id = {rows}").into();
        source
    };
    let job = json!({
        "name": "many",
        "connections": { "there": many.connection },
        "sources": [source("left"), source("right")],
        "dimensions": ["id"],
    });
    let assignment = json!({
        "run_id": "3f0c1f5e-7d0b-4a55-9a6f-1f6f1a2b3c4d",
        "job_id": "9b7e4c1a-2f44-4b1d-8c07-5a1b2c3d4e5f",
        "tenant_id": "0a1b2c3d-4e5f-4607-8899-aabbccddeeff",
        "job": job,
        "params": "{}",
        "requested_at_ms": 0,
        "breaks_dir": place.path().join("run"),
        "memory_bytes": 64 << 20,
        "threads": 2,
    });
    let (input, mut giver) = pipe().unwrap();
    writeln!(giver, "{assignment}").unwrap();
    let told = place.path().join("told");
    let (code, peak) = watched(
        Command::new(env!("CARGO_BIN_EXE_trueup"))
            .arg("attempt")
            .envs(many.variables.iter().map(|(name, value)| (name, value)))
            .stdin(input)
            .stdout(File::create(&told).unwrap()),
    );
    // Held open until here: it ended by itself.
    drop(giver);
    let told = fs::read_to_string(told).unwrap();
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("\"rows_matched\":1"), "{told}");
    peak
}

#[test]
fn five_times_as_many_rows_take_no_more() {
    let place = Place::new(&[]);
    let s3 = S3::start(Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/moto")));
    s3.put("lake", b"");
    let postgres = Postgres::shared().database().unwrap();
    let mariadb = Mariadb::shared().url(&Mariadb::shared().database().unwrap());
    let sqlite = place.path().join("some.db");
    rusqlite::Connection::open(&sqlite).unwrap().execute_batch("create table some (id)").unwrap();
    let of_mariadb =
        |rows| format!("select seq as id, concat('{}', seq) as note from seq_1_to_{rows}", note());
    let mut kinds: Vec<(&str, Box<Make<'_>>)> = vec![
        ("CSV", Box::new(|rows| csv(place.path(), rows))),
        ("Excel", Box::new(|rows| excel(place.path(), rows))),
        ("Parquet on S3", Box::new(|rows| parquet_on_s3(&s3, rows))),
        ("PostgreSQL", Box::new(|rows| Many::of_query("postgres", postgres.clone(), &counted(rows)))),
        ("MariaDB", Box::new(|rows| Many::of_query("mysql", mariadb.clone(), &of_mariadb(rows)))),
        (
            "SQLite",
            Box::new(|rows| {
                let connection = json!({ "type": "sqlite", "path": &sqlite });
                Many { connection, ..Many::of_query("sqlite", String::new(), &counted(rows)) }
            }),
        ),
    ];
    if cfg!(feature = "odbc") {
        use trueup_testkit::{odbc_to_postgres, odbc_to_sqlite};
        let strings = [
            ("ODBC of PostgreSQL", odbc_to_postgres(&postgres)),
            ("ODBC of SQLite", odbc_to_sqlite(&sqlite)),
        ];
        for (name, string) in strings {
            kinds.push((name, Box::new(move |rows| Many::of_query("odbc", string.clone(), &counted(rows)))));
        }
    }
    for (name, source) in kinds {
        let [few, many] = [ROWS, 5 * ROWS].map(|rows| peak(&source(rows), rows));
        assert!(many < few + SLACK_BYTES, "{name}: {few} bytes, and {many} for five times as many rows");
    }
}
