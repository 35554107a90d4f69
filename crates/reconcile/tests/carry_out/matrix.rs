//! The same rows in five systems: each pair agrees, and any cell that is changed in one of them is found, by column and key.

use std::cell::Cell;
use std::fmt::Write as _;
use std::fs::File;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_cast::display::array_value_to_string;
use arrow_schema::{DataType, TimeUnit};
use parquet::arrow::ArrowWriter;
use trueup_events::outcome::Verdict;
use trueup_testkit::{Mariadb, Postgres};

use crate::scene::Scene;

/// How many rows there are.
const ROWS: usize = 9;
/// What stands for NULL in the columns below.
const NULL: &str = "∅";

/// A column: its name, its types in PostgreSQL, MariaDB and SQLite, and its values from row to row. A changed cell has the
/// value of the row below, which is always another, if only by a digit, a blank or a microsecond.
const COLUMNS: [(&str, [&str; 3], &str); 14] = [
    (
        "whole",
        ["numeric", "decimal(38,0)", "text"],
        "12345678901234567890123456789012345678|12345678901234567890123456789012345677|-99999999999999999999999999999999999999|∅|0|9007199254740993|9007199254740992|18446744073709551615|1",
    ),
    (
        "big",
        ["int8", "bigint", "integer"],
        "9223372036854775807|9223372036854775806|-9223372036854775808|-1|∅|0|1|42|2147483648",
    ),
    (
        "money",
        ["numeric(20,2)", "decimal(20,2)", "numeric"],
        "1.10|1.11|-1.10|0.00|∅|99999999999.99|0.01|-0.01|7.00",
    ),
    (
        "rate",
        ["numeric", "decimal(30,10)", "numeric"],
        "0.0000000001|0.0000000002|∅|1.5|1.4999999999|-3|100|0.1|0.1000000001",
    ),
    (
        "tally",
        ["numeric(20)", "bigint unsigned", "text"],
        "18446744073709551615|18446744073709551614|9223372036854775808|∅|0|1|4294967295|4294967296|7",
    ),
    ("single", ["float4", "float", "real"], "1.1|1.2|∅|0.1|1e30|-1.5|0.5|7|1e-10"),
    ("ratio", ["float8", "double", "real"], "0.1|NaN|0.30000000000000004|inf|0.3|-inf|1e300|∅|-0.0"),
    ("text", ["text", "varchar(20)", "text"], "Ab|ab|ab | ab|é|e\u{301}|Ünï 🦀|∅|"),
    (
        "day",
        ["date", "date", "text"],
        "0001-01-01|1969-12-31|1970-01-01|2024-02-29|∅|2026-03-29|2026-03-30|9999-12-31|2000-01-01",
    ),
    (
        "clock",
        ["time", "time(6)", "text"],
        "00:00:00|00:00:00.000001|23:59:59.999999|∅|12:00:00|12:00:01|01:02:03|13:00:00|08:30:00",
    ),
    (
        "wall",
        ["timestamp", "datetime(6)", "text"],
        "2026-03-29 02:30:00|2026-03-29 02:30:00.000001|1969-12-31 23:59:59.999999|∅|2026-10-25 02:30:00|0001-01-01 00:00:00|9999-12-31 23:59:59|2026-01-01 00:00:00|2026-01-01 12:00:00",
    ),
    (
        "moment",
        ["timestamptz", "timestamp(6) null", "text"],
        "2026-03-29T02:30:00+02:00|2026-03-29T02:30:00Z|2026-03-29T02:30:00-05:00|∅|2026-03-29T00:30:00.000001Z|2026-10-25T02:30:00+01:00|2026-10-25T02:30:00+02:00|1970-01-01T00:00:01Z|2038-01-19T03:14:07Z",
    ),
    ("flag", ["boolean", "boolean", "boolean"], "true|false|∅|true|false|∅|true|false|∅"),
    (
        "code",
        ["uuid", "uuid", "text"],
        "0a1b2c3d-4e5f-4607-8899-aabbccddeef0|0a1b2c3d-4e5f-4607-8899-aabbccddeef1|∅|00000000-0000-0000-0000-000000000000|10000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff|0a1b2c3d-4e5f-4607-8899-aabbccddeef2|12345678-1234-1234-1234-123456789012|12345678-1234-1234-1234-123456789013",
    ),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    Postgres,
    Mariadb,
    Sqlite,
    Parquet,
    Csv,
}

const SYSTEMS: [System; 5] =
    [System::Postgres, System::Mariadb, System::Sqlite, System::Parquet, System::Csv];

impl System {
    /// What a system cannot hold; the cell is left out then, in both of a pair.
    fn lacks(self, value: &str) -> bool {
        match self {
            Self::Mariadb => ["NaN", "inf", "-inf"].contains(&value),
            Self::Sqlite => value == "NaN",
            Self::Postgres | Self::Parquet | Self::Csv => false,
        }
    }
}

/// The rows of a pair of systems, which may be changed: in row r then, the column `r + shift`.
struct Rows {
    pair: [System; 2],
    shift: Option<usize>,
}

impl Rows {
    fn is_changed(&self, column: usize, row: usize) -> bool {
        self.shift.is_some_and(|shift| (row + shift) % COLUMNS.len() == column)
    }

    fn value(&self, column: usize, row: usize) -> Option<&'static str> {
        let row = if self.is_changed(column, row) { (row + 1) % ROWS } else { row };
        let value = COLUMNS[column].2.split('|').nth(row).unwrap();
        (value != NULL && !self.pair.iter().any(|system| system.lacks(value))).then_some(value)
    }

    fn column(&self, column: usize) -> Vec<Option<&'static str>> {
        (0..ROWS).map(|row| self.value(column, row)).collect()
    }

    /// Statements that make a table of them, of the types at a place of [`COLUMNS`].
    fn table(&self, name: &str, types: usize, literal: impl Fn(&str, &str) -> String) -> String {
        let column = |(name, kinds, _): &(&str, [&str; 3], &str)| format!(", {name} {}", kinds[types]);
        let columns: String = COLUMNS.iter().map(column).collect();
        let tuple = |row| {
            let value = |(at, (name, ..)): (usize, &(&str, [&str; 3], &str))| {
                self.value(at, row).map_or(", null".to_owned(), |value| format!(", {}", literal(name, value)))
            };
            format!("({row}{})", COLUMNS.iter().enumerate().map(value).collect::<String>())
        };
        let tuples: Vec<String> = (0..ROWS).map(tuple).collect();
        format!("create table {name} (id bigint{columns}); insert into {name} values {};", tuples.join(", "))
    }

    fn parquet(&self, file: File) {
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values((0..).take(ROWS)));
        let columns = COLUMNS.iter().enumerate().map(|(at, (name, ..))| {
            let written: ArrayRef = Arc::new(StringArray::from(self.column(at)));
            (*name, cast(&written, &arrow_type(name)).unwrap())
        });
        let batch = RecordBatch::try_from_iter([("id", ids)].into_iter().chain(columns)).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    fn csv(&self) -> String {
        let names: Vec<&str> = COLUMNS.iter().map(|(name, ..)| *name).collect();
        let mut text = format!("id,{}\n", names.join(","));
        for row in 0..ROWS {
            let cell = |at| self.value(at, row).map_or(String::new(), |value| format!("\"{value}\""));
            let cells: Vec<String> = (0..COLUMNS.len()).map(cell).collect();
            writeln!(text, "{row},{}", cells.join(",")).unwrap();
        }
        text
    }
}

fn arrow_type(name: &str) -> DataType {
    match name {
        "whole" => DataType::Decimal128(38, 0),
        "big" => DataType::Int64,
        "money" => DataType::Decimal128(20, 2),
        "rate" => DataType::Decimal128(30, 10),
        "tally" => DataType::UInt64,
        "single" => DataType::Float32,
        "ratio" => DataType::Float64,
        "day" => DataType::Date32,
        "clock" => DataType::Time64(TimeUnit::Microsecond),
        "wall" => DataType::Timestamp(TimeUnit::Microsecond, None),
        "moment" => DataType::Timestamp(TimeUnit::Microsecond, Some("+05:30".into())),
        "flag" => DataType::Boolean,
        _ => DataType::Utf8,
    }
}

/// Where the rows are put, under a new name each time.
struct Place {
    scene: Scene,
    postgres: String,
    mariadb: String,
    made: Cell<usize>,
}

impl Place {
    fn new() -> Self {
        let mut scene = Scene::new(&[]);
        let postgres = Postgres::shared().database().unwrap();
        let mariadb = Mariadb::shared().database().unwrap();
        scene.variables.insert("POSTGRES", postgres.clone());
        scene.variables.insert("MARIADB", Mariadb::shared().url(&mariadb));
        Self { scene, postgres, mariadb, made: Cell::new(0) }
    }

    /// Puts rows into a system, and says how a job reads them from there.
    fn put(&self, system: System, rows: &Rows) -> String {
        let name = format!("rows_{}", self.made.replace(self.made.get() + 1));
        let quoted = |_: &str, value: &str| format!("'{value}'");
        // What the two do not have: truth values, and in text no times but those of a date.
        let flags = "case when flag then 'true' when not flag then 'false' end as flag";
        let others =
            "id, whole, big, money, rate, tally, single, ratio, text, day, clock, wall, moment, code";
        match system {
            System::Postgres => {
                Postgres::shared().execute(&self.postgres, &rows.table(&name, 0, quoted)).unwrap();
                format!("{{connection: postgres, table: {name}}}")
            }
            System::Mariadb => {
                let literal = |column: &str, value: &str| match column {
                    "moment" => format!("'{}'", in_utc(value)),
                    "flag" => value.to_owned(),
                    _ => format!("'{value}'"),
                };
                let made = rows.table(&name, 1, literal);
                Mariadb::shared().run(&self.mariadb, &format!("set time_zone = '+00:00'; {made}")).unwrap();
                format!("{{connection: mariadb, query: \"select {others}, {flags} from {name}\"}}")
            }
            System::Sqlite => {
                let literal = |column: &str, value: &str| match (column, value) {
                    ("ratio", "inf") => "9e999".to_owned(),
                    ("ratio", "-inf") => "-9e999".to_owned(),
                    ("flag", flag) => flag.to_owned(),
                    _ => format!("'{value}'"),
                };
                let file = rusqlite::Connection::open(self.scene.path("rows.db")).unwrap();
                file.execute_batch(&rows.table(&name, 2, literal)).unwrap();
                format!("{{connection: sqlite, query: \"select {others}, {flags} from {name}\", {CLOCKS}}}")
            }
            System::Parquet => {
                rows.parquet(File::create(self.scene.path(&format!("{name}.parquet"))).unwrap());
                format!("{{file: {name}.parquet}}")
            }
            System::Csv => {
                std::fs::write(self.scene.path(&format!("{name}.csv")), rows.csv()).unwrap();
                format!("{{file: {name}.csv, {CLOCKS}}}")
            }
        }
    }

    /// Compares what was put, and says what differs: what is found of columns, and the key and the columns of each break.
    fn compare(&self, sources: [&str; 2]) -> (Verdict, Vec<String>) {
        let job = format!(
            "name: matrix
connections:
  postgres: {{type: postgres, url: '${{env:POSTGRES}}'}}
  mariadb: {{type: mysql, url: '${{env:MARIADB}}'}}
  sqlite: {{type: sqlite, path: rows.db}}
sources:
  left: {}
  right: {}
key: [id]
",
            sources[0], sources[1]
        );
        let carried = self.scene.carry_out(&job, &[]).1.unwrap();
        let comparison = &carried.stages[0].1;
        let mut differs: Vec<String> = comparison.findings.iter().map(ToString::to_string).collect();
        for found in &comparison.breaks {
            let cells = found.cells.iter().zip(&comparison.measures);
            let outside = cells.filter(|(cell, _)| cell.outside.is_some());
            let columns: Vec<&str> = outside.map(|(_, measure)| measure.name.as_str()).collect();
            differs.push(format!("{}: {}", found.key[0].as_ref().unwrap(), columns.join(", ")));
        }
        (carried.verdict, differs)
    }
}

/// Times without a date are text until it is said what they are.
const CLOCKS: &str = "date_formats: {clock: '%T%.f'}";

/// An instant as MariaDB takes it.
fn in_utc(instant: &str) -> String {
    let written: ArrayRef = Arc::new(StringArray::from(vec![instant]));
    let utc = cast(&written, &DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into()))).unwrap();
    let wall = cast(&utc, &DataType::Timestamp(TimeUnit::Microsecond, None)).unwrap();
    array_value_to_string(&wall, 0).unwrap()
}

fn pairs() -> impl Iterator<Item = [System; 2]> {
    let behind = |at: usize| SYSTEMS[at + 1..].iter().map(move |right| [SYSTEMS[at], *right]);
    (0..SYSTEMS.len()).flat_map(behind)
}

#[test]
fn equal_rows_match_in_every_pair_of_systems() {
    let place = Place::new();
    for pair in pairs() {
        let rows = Rows { pair, shift: None };
        let [left, right] = pair.map(|system| place.put(system, &rows));
        assert_eq!(place.compare([&left, &right]), (Verdict::Matched, Vec::new()), "{pair:?}");
    }
}

#[test]
fn every_changed_cell_is_found_by_column_and_key() {
    let place = Place::new();
    for pair in pairs() {
        let right = place.put(pair[1], &Rows { pair, shift: None });
        for shift in 0..COLUMNS.len() {
            let rows = Rows { pair, shift: Some(shift) };
            let left = place.put(pair[0], &rows);
            let changed = |row: usize| format!("{row}: {}", COLUMNS[(row + shift) % COLUMNS.len()].0);
            let expected = (0..ROWS).map(changed).collect();
            assert_eq!(place.compare([&left, &right]), (Verdict::Unmatched, expected), "{pair:?}");
        }
    }
}
