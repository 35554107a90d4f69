//! The same data gives the same bytes of breaks: from `diff` and from `run`, in any order, format, stage and number of threads.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch, StringArray};

use crate::place::{Place, shown};

const MEASURES: &str = "dimensions: [region, account, payment]
measures: [{name: sum(amount), aggregate: sum, column: amount}, {name: count(*), aggregate: count}]
";

const STAGES: [(&str, &str); 3] =
    [("region", "region"), ("account", "region, account"), ("payment", "region, account, payment")];

/// Region, account, payment, and cents.
type Row = (&'static str, i64, String, i64);

/// The rows of both sides, which differ in two of five regions.
fn sides() -> [Vec<Row>; 2] {
    let row = |number: i64| {
        let region = ["north", "east", "south", "west", "overseas"][usize::try_from(number % 5).unwrap()];
        (region, number % 35, format!("P{:04}", number / 2), number * 37 % 10_000 - 3_000)
    };
    let ledger: Vec<Row> = (0..3_000).map(row).collect();
    let mut bank = ledger.clone();
    for (at, row) in bank.iter_mut().enumerate() {
        row.3 += i64::from(at % 200 == 5) * 250;
    }
    bank.retain(|row| row.2 != "P0706");
    [ledger, bank]
}

/// The same rows in another order.
fn shuffled(rows: &[Row], seed: u64) -> Vec<Row> {
    let mut order: Vec<(u64, &Row)> =
        (1..).map(|at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ seed)).zip(rows).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, row)| row.clone()).collect()
}

fn write_csv(place: &Place, name: &str, rows: &[Row]) {
    let lines = rows.iter().map(|(region, account, payment, cents)| {
        format!(
            "{region},{account},{payment},{}{}.{:02}\n",
            if *cents < 0 { "-" } else { "" },
            cents.abs() / 100,
            cents.abs() % 100
        )
    });
    let text = "region,account,payment,amount\n".to_owned() + &lines.collect::<String>();
    fs::write(place.path().join(name), text).unwrap();
}

fn write_parquet(place: &Place, name: &str, rows: &[Row]) {
    let amounts = Decimal128Array::from_iter_values(rows.iter().map(|row| row.3.into()));
    let columns: [(&str, ArrayRef); 4] = [
        ("region", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.0)))),
        ("account", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.1)))),
        ("payment", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.2)))),
        ("amount", Arc::new(amounts.with_precision_and_scale(12, 2).unwrap())),
    ];
    place.write_parquet(name, &RecordBatch::try_from_iter(columns).unwrap());
}

/// Amounts as text: a number of SQLite would be a float.
fn write_sqlite(place: &Place, name: &str, rows: &[Row]) {
    let mut database = rusqlite::Connection::open(place.path().join(name)).unwrap();
    let all = database.transaction().unwrap();
    all.execute("create table bank (region text, account integer, payment text, amount text)", []).unwrap();
    for (region, account, payment, cents) in rows {
        let amount = format!("{cents}e-2");
        all.execute("insert into bank values (?, ?, ?, ?)", (region, account, payment, amount)).unwrap();
    }
    all.commit().unwrap();
}

/// Runs a job of the stages given, and gives back the breaks of each and the verdict.
fn run(
    place: &Place,
    bank: &str,
    stages: usize,
    strategy: &str,
    threads: usize,
) -> (String, BTreeMap<String, Vec<u8>>) {
    let stage = |(name, dimensions): &(&str, &str)| format!("{{name: {name}, dimensions: [{dimensions}]}}");
    let stages = STAGES[3 - stages..].iter().map(stage).collect::<Vec<_>>().join(", ");
    let job = format!(
        "name: same\nconnections: {{db: {{type: sqlite, path: bank.db}}}}\nsources: {{ledger: {{file: ledger.csv}}, bank: {{{bank}}}}}\n{MEASURES}stages: [{stages}]\nstrategy: {strategy}\nthreads: {threads}\nmemory: 128MiB\n"
    );
    fs::write(place.path().join("job.yaml"), job).unwrap();
    let ran = place.trueup(&["run", "job.yaml", "--json"]).output().unwrap();
    let said: serde_json::Value =
        serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{}", shown(ran)));
    let mut breaks = BTreeMap::new();
    gather(&place.path().join("data"), said["run_id"].as_str().unwrap(), false, &mut breaks);
    (said["result"].to_string(), breaks)
}

/// The break files below a folder that belong to a run.
fn gather(folder: &Path, run_id: &str, is_of_run: bool, breaks: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            gather(&path, run_id, is_of_run || name.contains(run_id), breaks);
        } else if let Some(stage) = name.strip_suffix(".parquet").filter(|_| is_of_run) {
            breaks.insert(stage.to_owned(), fs::read(&path).unwrap());
        }
    }
}

fn diff(place: &Place, bank: &str, key: &str, threads: &str) -> Vec<u8> {
    let bank = format!("bank={bank}");
    let output = place.diff(&[
        "ledger=ledger.csv",
        &bank,
        "--key",
        key,
        "--measure",
        "sum(amount)",
        "--measure",
        "count(*)",
        "--breaks",
        "breaks.parquet",
        "--threads",
        threads,
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", shown(output));
    fs::read(place.path().join("breaks.parquet")).unwrap()
}

#[test]
fn breaks_are_the_same_bytes() {
    let [ledger, bank] = sides();
    let place = Place::new(&[]);
    let write = |seed| {
        write_csv(&place, "ledger.csv", &shuffled(&ledger, seed));
        let bank = shuffled(&bank, !seed);
        write_csv(&place, "bank.csv", &bank);
        write_parquet(&place, "bank.parquet", &bank);
        fs::remove_file(place.path().join("bank.db")).unwrap_or_default();
        write_sqlite(&place, "bank.db", &bank);
    };
    write(1);
    // What all of it has to be, by `diff`.
    let expected: BTreeMap<String, Vec<u8>> = (STAGES.iter())
        .map(|(name, key)| ((*name).to_owned(), diff(&place, "bank.csv", &key.replace(' ', ""), "1")))
        .collect();
    for (threads, seed) in [(1, 2), (2, 3)] {
        write(seed);
        for (name, key) in STAGES {
            for file in ["bank.csv", "bank.parquet"] {
                let breaks = diff(&place, file, &key.replace(' ', ""), &threads.to_string());
                assert!(breaks == expected[name], "diff by {name}, {threads} threads, {file}");
            }
        }
        for bank in ["file: bank.csv", "file: bank.parquet", "connection: db, table: bank"] {
            for (stages, strategy) in
                [(1, "ALL"), (2, "DRILL_DOWN_ON_FAILURE"), (3, "DRILL_DOWN_ON_FAILURE"), (3, "PARALLEL")]
            {
                let (verdict, breaks) = run(&place, bank, stages, strategy, threads);
                assert_eq!((verdict.as_str(), breaks.len()), ("\"UNMATCHED\"", stages), "{strategy}");
                for (stage, bytes) in breaks {
                    // No two differences of a group cancel out, so that drilling down misses none.
                    assert!(
                        bytes == expected[&stage],
                        "{strategy} {stage} of {stages}, {threads} threads, {bank}"
                    );
                }
            }
        }
    }
}
