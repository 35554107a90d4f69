//! PostgreSQL: every type, bound values, refusals, and being called off.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_buffer::BooleanBuffer;
use trueup_extract::{Engine, Error, Query, Refused, Table};
use trueup_testkit::{Fault, Postgres, Way};

use crate::asking::{ask, bound, sql, values};

/// A database that nothing is written to.
fn url() -> &'static str {
    static URL: OnceLock<String> = OnceLock::new();
    URL.get_or_init(|| Postgres::shared().database().unwrap())
}

fn query(url: &str, query: &Query, is_stopped: &(dyn Fn() -> bool + Sync)) -> Result<Table, Error> {
    ask(Engine::Postgres, url, query, is_stopped)
}

fn read(text: &str) -> Result<Table, Error> {
    query(url(), &sql(text), &|| false)
}

#[test]
fn every_type_is_exact() {
    let expressions = [
        "true",
        "(-32768)::int2",
        "2147483647::int4",
        "9223372036854775807::int8",
        "1.1::float4",
        "0.1::float8 + 0.2::float8",
        "'NaN'::float8",
        "1.10::numeric",
        "-0.0001::numeric(10,4)",
        "12345678901234567890123456789012345678::numeric",
        "123456789012345678901234567890123456789.5::numeric",
        "'NaN'::numeric",
        "100000000::numeric",
        "'Größe 🦀 '::text",
        "'ab'::char(4)",
        "'2026-03-29'::date",
        "'0044-03-15 BC'::date",
        "'23:59:59.999999'::time",
        "'2026-03-29 02:30:00.123456'::timestamp",
        "'2026-03-29 02:30:00+01'::timestamptz",
        "'0a1b2c3d-4e5f-4607-8899-aabbccddeeff'::uuid",
        "'{\"b\": 1, \"a\": [2]}'::json",
        "'{\"b\": 1, \"a\": [2]}'::jsonb",
        "'\\x00ff'::bytea",
        "array[1, null, 3]",
        "'1 day 2 hours'::interval",
        "'10.0.0.1/8'::inet",
        "null::text",
    ];
    let mut shown = String::new();
    for expression in expressions {
        let table = read(&format!("select {expression} as v")).unwrap();
        let kind = table.schema().field(0).data_type().clone();
        writeln!(shown, "{expression} is {kind}: ‹{}›", values(&table, None).unwrap()[0][0]).unwrap();
    }
    insta::assert_snapshot!(shown, @r#"
    true is Boolean: ‹true›
    (-32768)::int2 is Int16: ‹-32768›
    2147483647::int4 is Int32: ‹2147483647›
    9223372036854775807::int8 is Int64: ‹9223372036854775807›
    1.1::float4 is Float32: ‹1.1›
    0.1::float8 + 0.2::float8 is Float64: ‹0.30000000000000004›
    'NaN'::float8 is Float64: ‹NaN›
    1.10::numeric is Decimal128(38, 2): ‹1.10›
    -0.0001::numeric(10,4) is Decimal128(38, 4): ‹-0.0001›
    12345678901234567890123456789012345678::numeric is Decimal128(38, 0): ‹12345678901234567890123456789012345678›
    123456789012345678901234567890123456789.5::numeric is Utf8View: ‹123456789012345678901234567890123456789.5›
    'NaN'::numeric is Utf8View: ‹NaN›
    100000000::numeric is Decimal128(38, 0): ‹100000000›
    'Größe 🦀 '::text is Utf8View: ‹Größe 🦀 ›
    'ab'::char(4) is Utf8View: ‹ab›
    '2026-03-29'::date is Date32: ‹2026-03-29›
    '0044-03-15 BC'::date is Date32: ‹-0043-03-15›
    '23:59:59.999999'::time is Time64(µs): ‹23:59:59.999999›
    '2026-03-29 02:30:00.123456'::timestamp is Timestamp(µs): ‹2026-03-29T02:30:00.123456›
    '2026-03-29 02:30:00+01'::timestamptz is Timestamp(µs, "+00:00"): ‹2026-03-29T01:30:00Z›
    '0a1b2c3d-4e5f-4607-8899-aabbccddeeff'::uuid is Utf8View: ‹0a1b2c3d-4e5f-4607-8899-aabbccddeeff›
    '{"b": 1, "a": [2]}'::json is Utf8View: ‹{"b": 1, "a": [2]}›
    '{"b": 1, "a": [2]}'::jsonb is Utf8View: ‹{"a": [2], "b": 1}›
    '\x00ff'::bytea is BinaryView: ‹00ff›
    array[1, null, 3] is Utf8View: ‹{1,NULL,3}›
    '1 day 2 hours'::interval is Utf8View: ‹P1DT2H›
    '10.0.0.1/8'::inet is Utf8View: ‹10.0.0.1/8›
    null::text is Utf8View: ‹NULL›
    "#);
}

#[test]
fn a_column_has_the_scale_of_its_longest_value() {
    let table = read("select v from (values (1.5), (-20.125), (0), (null)) as t (v)").unwrap();
    assert_eq!(values(&table, None).unwrap(), [["1.500"], ["-20.125"], ["0.000"], ["NULL"]]);
}

#[test]
fn values_are_bound_as_what_is_expected_in_their_place() {
    let asked = bound("select i from generate_series(1, 9) as i where i = ", &[]);
    let table = query(url(), &asked, &|| false).unwrap();
    assert_eq!(values(&table, None).unwrap(), [["7"]]);
}

#[test]
fn an_empty_result_has_columns() {
    let table = read("select 1 as a, now() as b where false;").unwrap();
    assert_eq!(table.schema().fields().len(), 2);
    assert_eq!((table.rows_hint(), values(&table, None).unwrap().len()), (Some(0), 0));
}

#[test]
fn every_scan_yields_the_same_and_chosen_rows_are_found_again() {
    let table = read("select i, md5(i::text) as text from generate_series(1, 200000) as i").unwrap();
    let all = values(&table, None).unwrap();
    assert_eq!((table.rows_hint(), all.len()), (Some(200_000), 200_000));
    assert_eq!(all, values(&table, None).unwrap());
    let scan = table.scan(&[0], None).unwrap();
    let (mut chosen, mut expected) = (HashMap::new(), Vec::new());
    let (mut starts, mut before) = (Vec::new(), 0);
    while let Some(part) = scan.next_part().unwrap() {
        let rows: usize = part.batches.map(|batch| batch.unwrap().num_rows()).sum();
        // The last row of every second part.
        if part.number % 2 == 1 {
            let last: BooleanBuffer = (0..rows).map(|row| row + 1 == rows).collect();
            chosen.insert(part.number, last);
            expected.push(all[before + rows - 1].clone());
        }
        starts.push(before);
        before += rows;
    }
    assert!(starts.len() > 4, "{starts:?}");
    assert_eq!(values(&table, Some(&chosen)).unwrap(), expected);
    let last = starts.len() - 1;
    assert_eq!(table.place(last, 1).unwrap(), format!("erp, row {}", starts[last] + 2));
}

#[test]
fn refusals_are_told_in_the_words_of_the_database() {
    let server = Postgres::shared();
    let nobody = server.url("nobody", "postgres");
    let nowhere = "postgres://ann:hunter2@127.0.0.1:1/d";
    let table = [
        (url(), "select 1 from gl", Refused::Missing, "relation \"gl\" does not exist"),
        (url(), "select nope from pg_class", Refused::Missing, "column \"nope\" does not exist"),
        (url(), "selec 1", Refused::Query, "syntax error"),
        (url(), "select 1; select 2", Refused::Query, "multiple commands"),
        (url(), "create table t (a int)", Refused::Query, "a source is a SELECT"),
        (url(), "delete from pg_class returning relname", Refused::Query, "syntax error"),
        (url(), "select nextval('s')", Refused::Missing, "relation \"s\" does not exist"),
        (url(), "select txid_current()", Refused::Query, ""),
        (url(), "select 1 as a, 2 as a", Refused::Query, "two columns are called \"a\""),
        (
            url(),
            "select 1 / (90000 - i) from generate_series(1, 100000) as i",
            Refused::Query,
            "division by zero",
        ),
        (&nobody, "select 1", Refused::Connection, "nobody"),
        (nowhere, "select 1", Refused::Connection, "refused"),
        ("postgres://ann:hunter2@h?sslmode=maybe", "select 1", Refused::Url, "sslmode=maybe"),
    ];
    for (url, text, kind, words) in table {
        match query(url, &sql(text), &|| false).map(|table| values(&table, None)) {
            Err(Error::Database { place, kind: found, problem }) => {
                assert_eq!((place.as_str(), found), ("erp", kind), "{text}: {problem}");
                assert!(problem.contains(words) && !problem.contains("hunter2"), "{text}: {problem}");
            }
            // Some functions that look as if they wrote are allowed.
            Ok(Ok(_)) if words.is_empty() => {}
            other => panic!("{text}: {:?}", other.err()),
        }
    }
}

#[test]
fn what_is_no_date_is_refused_by_name() {
    for infinite in ["'infinity'::date", "'-infinity'::timestamptz", "'infinity'::timestamp"] {
        let table = read(&format!("select {infinite} as due")).unwrap();
        let error = values(&table, None).unwrap_err().to_string();
        assert!(error.contains("due holds infinity") && error.contains("due::text as due"), "{error}");
    }
}

#[test]
fn being_called_off_ends_the_query_on_the_server() {
    let stop = AtomicBool::new(false);
    let stopped = query(url(), &sql("select pg_sleep(600)"), &|| stop.swap(true, Ordering::Relaxed));
    assert!(matches!(stopped, Err(Error::Stopped)), "{:?}", stopped.err());
    let left = "select count(*)::int8 as n from pg_stat_activity where query like 'copy%pg_sleep(600)%' and pid <> pg_backend_pid()";
    while values(&read(left).unwrap(), None).unwrap() != [["0"]] {
        std::thread::yield_now();
    }
}

#[test]
fn a_connection_that_is_cut_half_way_is_no_end() {
    let endless = "select i from generate_series(1, 1000000000) as i /* cut */";
    let cut = "select count(pg_terminate_backend(pid)) as n from pg_stat_activity where query like 'copy%cut%' and pid <> pg_backend_pid()";
    let error = std::thread::scope(|scope| {
        let reading = scope.spawn(|| read(endless).map(drop).unwrap_err());
        while values(&read(cut).unwrap(), None).unwrap() == [["0"]] {
            std::thread::yield_now();
        }
        reading.join().unwrap()
    });
    assert!(matches!(error, Error::Database { kind: Refused::Connection, .. }), "{error}");
}

#[test]
fn a_server_that_hangs_up_at_first_is_tried_again() {
    let socket = Postgres::shared().listening_at();
    let reach = move || UnixStream::connect(&socket).and_then(|stream| Ok((stream.try_clone()?, stream)));
    let way = Way::to(Fault::HangsUp(3), reach).unwrap();
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", way.port());
    let table = query(&url, &sql("select 7 as n"), &|| false).unwrap();
    assert_eq!((values(&table, None).unwrap(), way.taken()), (vec![vec!["7".to_owned()]], 4));
}
