//! SQLite: classes of values, bound values, refusals, and being called off.

use std::fmt::Write as _;

use rusqlite::Connection;
use tempfile::TempDir;
use trueup_extract::{Engine, Error, Query, Refused, Table, Value};

use crate::asking::{ask, sql, values};

/// A file with a ledger in it.
struct Ledger(TempDir);

impl Ledger {
    fn new() -> Self {
        let ledger = Self(tempfile::tempdir().unwrap());
        let made = "create table gl (id integer, amount numeric, day text);
            insert into gl values (1, 10.5, '2026-01-31'), (2, 20, '2026-01-30'), (3, null, '')";
        Connection::open(ledger.path()).unwrap().execute_batch(made).unwrap();
        ledger
    }

    fn path(&self) -> String {
        self.0.path().join("ledger.db").to_str().unwrap().to_owned()
    }

    fn ask(&self, query: &Query) -> Result<Table, Error> {
        ask(Engine::Sqlite, &self.path(), query, &|| false)
    }
}

#[test]
fn a_column_has_the_type_that_holds_all_its_values() {
    let columns = [
        "(1), (9223372036854775807), (null)",
        "(1), (0.1), (9007199254740992)",
        "(0.1), (9007199254740993)",
        "(1e300), (-9e999)",
        "('Größe 🦀 '), (''), (null)",
        "('007'), (7), (0.5), (x'00ff')",
        "(x'00ff'), (x''), (null)",
        "(x'00ff'), (1)",
        "(null), (null)",
    ];
    let ledger = Ledger::new();
    let mut shown = String::new();
    for column in columns {
        let table = ledger.ask(&sql(&format!("select column1 as v from (values {column})"))).unwrap();
        let kind = table.schema().field(0).data_type().clone();
        let values: Vec<String> = values(&table, None).unwrap().concat();
        writeln!(shown, "{column} is {kind}: ‹{}›", values.join("› ‹")).unwrap();
    }
    insta::assert_snapshot!(shown, @r"
    (1), (9223372036854775807), (null) is Int64: ‹1› ‹9223372036854775807› ‹NULL›
    (1), (0.1), (9007199254740992) is Float64: ‹1.0› ‹0.1› ‹9007199254740992.0›
    (0.1), (9007199254740993) is Utf8View: ‹0.1› ‹9007199254740993›
    (1e300), (-9e999) is Float64: ‹1e300› ‹-inf›
    ('Größe 🦀 '), (''), (null) is Utf8View: ‹Größe 🦀 › ‹› ‹NULL›
    ('007'), (7), (0.5), (x'00ff') is Utf8View: ‹007› ‹7› ‹0.5› ‹00ff›
    (x'00ff'), (x''), (null) is BinaryView: ‹00ff› ‹› ‹NULL›
    (x'00ff'), (1) is Utf8View: ‹00ff› ‹1›
    (null), (null) is Null: ‹NULL› ‹NULL›
    ");
}

#[test]
fn values_are_bound_as_what_they_are() {
    let ledger = Ledger::new();
    let pieces = ["select id from gl where id + 0 = ", " and amount + 0 = ", " and day || '' = ", " -- all"];
    let asked = Query {
        pieces: pieces.map(str::to_owned).to_vec(),
        values: vec![
            Value::Integer(1),
            Value::Decimal("10.5".to_owned()),
            Value::Text("2026-01-31".to_owned()),
        ],
    };
    assert_eq!(values(&ledger.ask(&asked).unwrap(), None).unwrap(), [["1"]]);
    let whole = ledger.ask(&Query::table(Engine::Sqlite, &["main".to_owned(), "gl".to_owned()])).unwrap();
    assert_eq!(whole.rows_hint(), Some(3));
}

#[test]
fn many_rows_are_read_in_parts() {
    let counted = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 50000)
        select i, 'row ' || i as text from n";
    let table = Ledger::new().ask(&sql(counted)).unwrap();
    let rows = values(&table, None).unwrap();
    assert_eq!((table.rows_hint(), rows.len()), (Some(50_000), 50_000));
    assert_eq!(rows[49_999], ["50000", "row 50000"]);
    assert_eq!(table.place(1, 0).unwrap(), "erp, row 8193");
    assert_eq!(table.described(), "SQLite");
    let wide = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 5)
        select i, zeroblob(5000000) as image from n";
    let table = Ledger::new().ask(&sql(wide)).unwrap();
    assert_eq!(table.place(1, 0).unwrap(), "erp, row 2");
}

#[test]
fn refusals_are_told_in_the_words_of_the_database() {
    let ledger = Ledger::new();
    let foreign = ledger.0.path().join("foreign.db");
    std::fs::write(&foreign, "this is no database, but long enough to be looked at as if it were one")
        .unwrap();
    let (path, foreign) = (ledger.path(), foreign.to_str().unwrap().to_owned());
    let nowhere = format!("{path}/nowhere.db");
    let table = [
        (&path, "select 1 from nope", Refused::Missing, "no such table: nope"),
        (&path, "select nope from gl", Refused::Missing, "no such column: nope"),
        (&path, "selec 1", Refused::Query, "syntax error"),
        (&path, "delete from gl returning id", Refused::Query, "it would write"),
        (&path, "delete from gl", Refused::Query, "a source is a SELECT"),
        (&path, "select 1 as a, 2 as a", Refused::Query, "two columns are called \"a\""),
        (&path, "select cast(x'ff' as text) as a", Refused::Query, "a: invalid utf-8"),
        (&path, "select abs(-9223372036854775807 - id) from gl", Refused::Query, "integer overflow"),
        (&nowhere, "select 1", Refused::Connection, "unable to open"),
        (&foreign, "select 1 from gl", Refused::Query, "not a database"),
    ];
    for (path, text, kind, words) in table {
        match ask(Engine::Sqlite, path, &sql(text), &|| false) {
            Err(Error::Database { place, kind: found, problem }) => {
                assert_eq!((place.as_str(), found), ("erp", kind), "{text}: {problem}");
                assert!(problem.contains(words), "{text}: {problem}");
            }
            other => panic!("{text}: {:?}", other.err()),
        }
    }
}

#[test]
fn being_called_off_ends_the_query() {
    let endless = sql("with recursive n (i) as (select 1 union all select i + 1 from n) select i from n");
    let stopped = ask(Engine::Sqlite, &Ledger::new().path(), &endless, &|| true);
    assert!(matches!(stopped, Err(Error::Stopped)), "{:?}", stopped.err());
}

#[test]
fn a_query_that_gives_other_values_each_time_is_refused() {
    // Of so many columns one at least is a number first and a text then.
    let column = |at| format!("iif(random() % 2 = 0, 1, 'x') as c{at}");
    let columns: Vec<String> = (0..100).map(column).collect();
    let error = Ledger::new().ask(&sql(&format!("select {}", columns.join(", ")))).map(drop).unwrap_err();
    assert!(error.to_string().contains("other values each time"), "{error}");
}

#[test]
fn a_decimal_is_bound_exactly_or_not_at_all() {
    let ledger = Ledger::new();
    let ask = |numeral: &str| {
        let pieces = ["select 1 as n where ", " = 9007199254740993"].map(str::to_owned).to_vec();
        ledger.ask(&Query { pieces, values: vec![Value::Decimal(numeral.to_owned())] })
    };
    assert_eq!(ask("9007199254740993").unwrap().rows_hint(), Some(1));
    assert_eq!(ask("9007199254740992").unwrap().rows_hint(), Some(0));
    assert_eq!(ask("0.1").unwrap().rows_hint(), Some(0));
    let error = ask("9007199254740993.5").map(drop).unwrap_err().to_string();
    assert!(error.contains("cannot hold 9007199254740993.5 exactly"), "{error}");
}
