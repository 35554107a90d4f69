//! ODBC, with the drivers of PostgreSQL and SQLite: types, bound values, refusals, and being called off.

use std::fmt::Write as _;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use trueup_extract::{Database, Engine, Error, Query, Refused, Table, Value};
use trueup_testkit::{Postgres, odbc_to_postgres, odbc_to_sqlite};

use crate::asking::{ask, sql, values};

fn postgres() -> &'static str {
    static STRING: OnceLock<String> = OnceLock::new();
    STRING.get_or_init(|| odbc_to_postgres(&Postgres::shared().database().unwrap()))
}

fn query(connection_string: &str, query: &Query) -> Result<Table, Error> {
    ask(Engine::Odbc, connection_string, query, &|| false)
}

/// What values are read as.
fn shown(connection_string: &str, columns: &[&str]) -> String {
    let mut shown = String::new();
    for column in columns {
        match query(connection_string, &sql(&format!("select {column} as v"))) {
            Ok(table) => {
                let kind = table.schema().field(0).data_type().clone();
                writeln!(shown, "{column} is {kind}: ‹{}›", values(&table, None).unwrap()[0][0]).unwrap();
            }
            Err(error) => writeln!(shown, "{column}: {error}").unwrap(),
        }
    }
    shown
}

#[test]
fn values_of_postgres_are_exact() {
    let columns = [
        "(-32768)::int2",
        "(-2147483648)::int4",
        "(-9223372036854775807 - 1)::int8",
        "1.1::float4",
        "0.1::float8 + 0.2::float8",
        "'NaN'::float8",
        "'-Infinity'::float8",
        "(-1.10)::numeric(10,2)",
        "0.5::numeric(2,2)",
        "12345678901234567890123456789012345678::numeric(38,0)",
        "1234567890123456789012345678.0123456789::numeric(38,10)",
        "12345678901234567890123456789012345678901::numeric(41,0)",
        "1.5::numeric",
        "0.1234567890123::numeric",
        "'NaN'::numeric(10,2)",
        "true",
        "date '2026-03-29'",
        "date '0001-01-01'",
        "time '23:59:59.123456'",
        "time '24:00'",
        "timestamp '2026-03-29 02:30:00.123456'",
        "timestamptz '2026-03-29 02:30:00.5+02'",
        "'Größe 🦀 '::text",
        "'ab'::char(4)",
        "'ab '::varchar(4)",
        "''::text",
        r"'\x00ff'::bytea",
        "''::bytea",
        "'0A1B2C3D-4E5F-4607-8899-aabbccddeeff'::uuid",
        r#"'{"b": 1}'::jsonb"#,
        "array[1, 2]",
        "null::int4",
        "null::numeric(10,2)",
        "null::text",
        "null::bytea",
        "null::date",
        "null::time",
        "null::timestamp",
        "null::boolean",
    ];
    insta::assert_snapshot!(shown(postgres(), &columns), @r#"
    (-32768)::int2 is Int64: ‹-32768›
    (-2147483648)::int4 is Int64: ‹-2147483648›
    (-9223372036854775807 - 1)::int8 is Int64: ‹-9223372036854775808›
    1.1::float4 is Float32: ‹1.1›
    0.1::float8 + 0.2::float8 is Float64: ‹0.30000000000000004›
    'NaN'::float8 is Float64: ‹NaN›
    '-Infinity'::float8 is Float64: ‹-inf›
    (-1.10)::numeric(10,2) is Decimal128(38, 2): ‹-1.10›
    0.5::numeric(2,2) is Decimal128(38, 2): ‹0.50›
    12345678901234567890123456789012345678::numeric(38,0) is Decimal128(38, 0): ‹12345678901234567890123456789012345678›
    1234567890123456789012345678.0123456789::numeric(38,10) is Decimal128(38, 10): ‹1234567890123456789012345678.0123456789›
    12345678901234567890123456789012345678901::numeric(41,0) is Utf8View: ‹12345678901234567890123456789012345678901›
    1.5::numeric is Decimal128(38, 1): ‹1.5›
    0.1234567890123::numeric is Decimal128(38, 13): ‹0.1234567890123›
    'NaN'::numeric(10,2): erp: v in row 1 is NaN, which is no decimal with 2 digits behind the point, as the driver says; cast it in the query
    true is Boolean: ‹true›
    date '2026-03-29' is Date32: ‹2026-03-29›
    date '0001-01-01' is Date32: ‹0001-01-01›
    time '23:59:59.123456' is Time64(ns): ‹23:59:59.123456›
    time '24:00': erp: v in row 1 is 24:00:00, which is out of range, or no date or time; cast it to text in the query
    timestamp '2026-03-29 02:30:00.123456' is Timestamp(µs): ‹2026-03-29T02:30:00.123456›
    timestamptz '2026-03-29 02:30:00.5+02' is Timestamp(µs): ‹2026-03-29T00:30:00.500›
    'Größe 🦀 '::text is Utf8View: ‹Größe 🦀 ›
    'ab'::char(4) is Utf8View: ‹ab›
    'ab '::varchar(4) is Utf8View: ‹ab ›
    ''::text is Utf8View: ‹›
    '\x00ff'::bytea is BinaryView: ‹00ff›
    ''::bytea is BinaryView: ‹›
    '0A1B2C3D-4E5F-4607-8899-aabbccddeeff'::uuid is Utf8View: ‹0a1b2c3d-4e5f-4607-8899-aabbccddeeff›
    '{"b": 1}'::jsonb is Utf8View: ‹{"b": 1}›
    array[1, 2] is Utf8View: ‹{1,2}›
    null::int4 is Int64: ‹NULL›
    null::numeric(10,2) is Decimal128(38, 2): ‹NULL›
    null::text is Utf8View: ‹NULL›
    null::bytea is BinaryView: ‹NULL›
    null::date is Date32: ‹NULL›
    null::time is Time64(ns): ‹NULL›
    null::timestamp is Timestamp(µs): ‹NULL›
    null::boolean is Boolean: ‹NULL›
    "#);
}

#[test]
fn values_of_sqlite_are_exact() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let made = "create table gl (id integer, big bigint, amount decimal(10,2), rate double, day date, at timestamp, name varchar(4), note text, image blob);
        insert into gl values (1, 9223372036854775807, 10.5, 0.1, '2026-01-31', '2026-01-31 18:30:00.125', 'Größe 🦀', 'long', x'00ff'),
        (5000000000, null, null, null, null, null, null, null, null)";
    rusqlite::Connection::open(&path).unwrap().execute_batch(made).unwrap();
    let table = query(&odbc_to_sqlite(&path), &Query::table(Engine::Odbc, &["gl".to_owned()])).unwrap();
    let mut shown = String::new();
    let rows = values(&table, None).unwrap();
    for (at, field) in table.schema().fields().iter().enumerate() {
        writeln!(shown, "{} is {}: ‹{}› ‹{}›", field.name(), field.data_type(), rows[0][at], rows[1][at])
            .unwrap();
    }
    insta::assert_snapshot!(shown, @r"
    id is Int64: ‹1› ‹5000000000›
    big is Int64: ‹9223372036854775807› ‹NULL›
    amount is Utf8View: ‹10.5› ‹NULL›
    rate is Float64: ‹0.1› ‹NULL›
    day is Date32: ‹2026-01-31› ‹NULL›
    at is Timestamp(µs): ‹2026-01-31T18:30:00.125› ‹NULL›
    name is Utf8View: ‹Größe 🦀› ‹NULL›
    note is Utf8View: ‹long› ‹NULL›
    image is BinaryView: ‹00ff› ‹NULL›
    ");
}

#[test]
fn values_are_bound_as_what_they_are() {
    let pieces = [
        "select n from generate_series(1, 3) as n where n = ",
        " and 10.50 = ",
        " and date '2026-01-31' = ",
        " and timestamp '2026-01-31 18:30:00' = ",
        " and 'Größe''; 🦀' = ",
        " and true = ",
        " -- all",
    ];
    let asked = Query {
        pieces: pieces.map(str::to_owned).to_vec(),
        values: vec![
            Value::Integer(2),
            Value::Decimal("10.5".to_owned()),
            Value::Text("2026-01-31".to_owned()),
            Value::Text("2026-01-31T18:30:00".to_owned()),
            Value::Text("Größe'; 🦀".to_owned()),
            Value::Boolean(true),
        ],
    };
    assert_eq!(values(&query(postgres(), &asked).unwrap(), None).unwrap(), [["2"]]);
    let dir = tempfile::tempdir().unwrap();
    let pieces = ["select 1 as n where 1 = ", " and 0.5 = ", " + 0 and '2026-01-31' = ", ""];
    let asked = Query {
        pieces: pieces.map(str::to_owned).to_vec(),
        values: vec![
            Value::Integer(1),
            Value::Decimal("0.5".to_owned()),
            Value::Text("2026-01-31".to_owned()),
        ],
    };
    let path = dir.path().join("ledger.db");
    assert_eq!(values(&query(&odbc_to_sqlite(&path), &asked).unwrap(), None).unwrap(), [["1"]]);
}

#[test]
fn long_and_many_values_are_whole() {
    let long = "select i, repeat('ä🦀', i * 10000) as text, decode(repeat('00ff', i * 10000), 'hex') as image from generate_series(0, 9) as i";
    let table = query(postgres(), &sql(long)).unwrap();
    let rows = values(&table, None).unwrap();
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(row[1], "ä🦀".repeat(at * 10_000), "{at}");
        assert_eq!(row[2], "00ff".repeat(at * 10_000), "{at}");
    }
    let many = "select i, 'row ' || i as text from generate_series(1, 50000) as i";
    let table = query(postgres(), &sql(many)).unwrap();
    let rows = values(&table, None).unwrap();
    assert_eq!((table.rows_hint(), rows.len()), (Some(50_000), 50_000));
    assert_eq!(rows[49_999], ["50000", "row 50000"]);
    assert_eq!(table.described(), "ODBC");
    let none = query(postgres(), &sql("select 1::int8 as id, 'x'::text as name where false")).unwrap();
    assert_eq!((none.rows_hint(), none.schema().fields().len()), (Some(0), 2));
}

#[test]
fn columns_are_told_without_rows() {
    let temp_dir = std::env::temp_dir();
    let database = Database {
        engine: Engine::Odbc,
        url: postgres(),
        place: "erp",
        temp_dir: &temp_dir,
        has_rows: false,
        is_stopped: &|| false,
        tell: &|_| (),
    };
    let table = database.query(&sql("select 1 / 0 as id, 1.5::numeric(9,2) as amount")).unwrap();
    let kinds: Vec<String> = table
        .schema()
        .fields()
        .iter()
        .map(|field| format!("{} {}", field.name(), field.data_type()))
        .collect();
    assert_eq!(
        (kinds, table.rows_hint()),
        (vec!["id Int64".to_owned(), "amount Decimal128(38, 2)".to_owned()], Some(0))
    );
}

#[test]
fn refusals_are_told_in_the_words_of_the_driver() {
    let guarded = Postgres::start_guarded().unwrap();
    let made = "create table gl (id int8); insert into gl values (1); grant all on gl to ann";
    guarded.execute(&guarded.url("postgres", "postgres"), made).unwrap();
    let ann = odbc_to_postgres(&guarded.url("ann:hunter2", "postgres"));
    let wrong = ann.replace("hunter2", "hunter3");
    let nowhere = ann.replace("Port=5432", "Port=1");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ledger.db");
    rusqlite::Connection::open(&file)
        .unwrap()
        .execute_batch("create table gl (id integer); insert into gl values (1)")
        .unwrap();
    let file_string = odbc_to_sqlite(&file);
    let table: [(&str, &str, Refused, &str); 18] = [
        (&wrong, "select 1", Refused::Connection, "password authentication failed"),
        (&nowhere, "select 1", Refused::Connection, "onnect"),
        ("DSN=nowhere;PWD=hunter2", "select 1", Refused::Url, "Data source name not found"),
        ("Driver=/nowhere/driver.so;PWD=hunter2", "select 1", Refused::Url, "Can't open lib"),
        ("hunter2", "select 1", Refused::Url, ""),
        (&ann, "select 1 from nope", Refused::Missing, "relation \"nope\" does not exist"),
        (&ann, "select nope from gl", Refused::Missing, "column \"nope\" does not exist"),
        (&ann, "selec 1", Refused::Query, "syntax error"),
        (&ann, "delete from gl", Refused::Query, "a source is a SELECT"),
        (&ann, "delete from gl returning id", Refused::Query, "read-only transaction"),
        (&ann, "select 1 as a, 2 as a", Refused::Query, "two columns are called \"a\""),
        (
            &ann,
            "select 1 / (90000 - i) as id from generate_series(1, 100000) as i",
            Refused::Query,
            "division by zero",
        ),
        (&ann, "select 1 as id where 1 = ?", Refused::Query, "1 values to bind where 0 are given"),
        (&file_string, "select 1 from nope", Refused::Missing, "no such table: nope"),
        (&file_string, "selec 1", Refused::Query, "a source is a SELECT"),
        (&file_string, "delete from gl", Refused::Query, "a source is a SELECT"),
        (&file_string, "delete from gl returning id", Refused::Query, "a source is a SELECT"),
        (
            &file_string,
            "select abs(-9223372036854775807 - id) as a from gl",
            Refused::Query,
            "integer overflow",
        ),
    ];
    for (connection_string, text, kind, words) in table {
        match query(connection_string, &sql(text)) {
            Err(Error::Database { place, kind: found, problem }) => {
                assert_eq!((place.as_str(), found), ("erp", kind), "{text}: {problem}");
                assert!(problem.contains(words), "{text}: {problem}");
                assert!(!problem.contains("hunter"), "{problem}");
            }
            other => panic!("{text}: {:?}", other.err()),
        }
    }
    assert_eq!(query(&ann, &sql("select id from gl")).unwrap().rows_hint(), Some(1));
    assert_eq!(query(&file_string, &sql("select id from gl")).unwrap().rows_hint(), Some(1));
}

#[test]
fn being_called_off_leaves_the_query_within_a_second() {
    let postgres = postgres();
    let started = Instant::now();
    let is_stopped = || started.elapsed() > Duration::from_millis(300);
    let stopped = ask(Engine::Odbc, postgres, &sql("select pg_sleep(8)::text as a"), &is_stopped);
    assert!(matches!(stopped, Err(Error::Stopped)), "{:?}", stopped.err());
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    // Nor does it keep others waiting.
    assert_eq!(query(postgres, &sql("select 1 as a")).unwrap().rows_hint(), Some(1));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}
