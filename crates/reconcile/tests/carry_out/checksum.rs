//! `compare: checksum` finds what `compare: full` finds, and reads less.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use trueup_compare::Comparison;
use trueup_events::Payload;
use trueup_testkit::Postgres;

use crate::scene::Scene;

const ROWS: u64 = 10_000;

/// A ledger; the other table is a copy of it.
const LEDGER: &str = "
    drop table if exists old, new;
    create table old (id bigint, region text, booked_on date, amount numeric(18,2), posted_at timestamptz, memo text);
    insert into old select i, (array['north', 'south', 'west'])[1 + i % 3], date '2026-01-01' + i % 300, i * 7 % 1009 / 100.0,
        timestamptz '2026-01-01 08:00Z' + i * interval '1.000037 s', case when i % 5 > 0 then 'invoice ' || i end
    from generate_series(1, 10000) as i;
    create table new as select * from old;";

/// What a job came to.
#[derive(Debug, PartialEq)]
struct Found {
    comparison: Comparison,
    completed: Option<String>,
    breaks: Vec<u8>,
}

/// What became of a job whose checksums were asked for.
pub(crate) struct Agreed {
    pub(crate) comparison: Comparison,
    /// How many rows were read of either table.
    pub(crate) read: Vec<u64>,
    /// What is told of why everything was read, if it was.
    pub(crate) whole: Option<String>,
}

/// Compares both ways what a job names, without its `compare`, and expects the same.
pub(crate) fn agree(scene: &Scene, job: &str) -> Agreed {
    let compared = |method: &str| {
        let (told, outcome) = scene.carry_out(&format!("{job}\ncompare: {method}\n"), &[]);
        let (_, mut comparison) = outcome.unwrap().stages.remove(0);
        // What needs all values is not told of some.
        comparison.concentration.clear();
        comparison.columns.clear();
        comparison.key_report.clear();
        let notes = std::mem::take(&mut comparison.notes);
        let read = told.iter().filter_map(|payload| match payload {
            Payload::ExtractionCompleted(completed) => Some(completed.rows_extracted),
            _ => None,
        });
        let completed = told.iter().find(|payload| matches!(payload, Payload::ComparisonCompleted(_)));
        let completed = completed.map(|payload| format!("{payload:?}"));
        let breaks = std::fs::read(scene.path("run/all.parquet")).unwrap();
        (Found { comparison, completed, breaks }, read.collect(), notes)
    };
    let (mut full, _, _) = compared("full");
    let (pruned, read, notes) = compared("checksum");
    for (measure, pruned) in full.comparison.measures.iter_mut().zip(&pruned.comparison.measures) {
        let lacks = format!("{} has no control total", measure.name);
        if notes.iter().any(|note| note.starts_with(&lacks)) {
            assert_eq!(pruned.totals, None, "{lacks}: {job}");
            measure.totals = None;
        }
    }
    assert_eq!(pruned, full, "{job}");
    let whole = notes.into_iter().find(|note| note.starts_with("every row was read"));
    Agreed { comparison: full.comparison, read, whole }
}

struct Tables {
    scene: Scene,
}

impl Tables {
    fn new() -> Self {
        let mut scene = Scene::new(&[]);
        scene.variables.insert("URL", Postgres::shared().database().unwrap());
        Self { scene }
    }

    /// Makes the ledger and its copy, and changes them.
    fn make(&self, change: &str) {
        Postgres::shared().execute(&self.scene.variables["URL"], &format!("{LEDGER} {change}")).unwrap();
    }

    fn job(job: &str) -> String {
        format!(
            "name: cut-over
connections: {{shop: {{type: postgres, url: '${{env:URL}}'}}}}
sources: {{old: {{connection: shop, table: old}}, new: {{connection: shop, table: public.new}}}}
{job}"
        )
    }

    fn agree(&self, job: &str) -> Agreed {
        agree(&self.scene, &Self::job(job))
    }
}

#[test]
fn what_differs_is_found_and_little_else_is_read() {
    let table: &[(&str, &str, u64)] = &[
        // (what becomes of the copy, the job, how many groups are not matched)
        ("select", "key: [id]", 0),
        ("update new set amount = amount + 0.01 where id in (7, 9000)", "key: [id]", 2),
        ("update new set amount = amount + 0.01 where id in (7, 9000)", "key: [id]\ntolerances: {amount: '0.01'}", 0),
        ("update new set amount = amount + id / 100.0 where id in (1, 9)", "key: [id]\ntolerances: {amount: '0.05'}", 1),
        ("update new set memo = upper(memo) where id in (3, 4); update new set memo = 'x' where id = 9", "key: [id]\ntolerances: {memo: {type: EXACT, normalise: [casefold]}}", 1),
        ("update new set memo = '' where id = 10", "key: [id]", 1),
        ("update new set memo = null where id = 11", "key: [id]", 1),
        ("update old set region = 'ab', memo = 'c' where id = 5; update new set region = 'a', memo = 'bc' where id = 5", "key: [id]", 1),
        ("update old set amount = id where id in (5001, 5002); update new set amount = 10003 - id where id in (5001, 5002)", "key: [id]", 2),
        ("update new set id = 10003 - id where id in (5001, 5002)", "key: [id]", 2),
        ("delete from new where id < 100 or id > 9900", "key: [id]", 199),
        ("delete from old where id < 100; delete from new where id > 9900", "key: [id]", 199),
        ("insert into new select * from new where id = 77", "key: [id]", 1),
        ("insert into new select * from new where id < 50; insert into old select * from old where id < 50", "key: [id]", 0),
        ("insert into new select * from new where id = 77; insert into old select * from old where id = 78", "key: [id]", 2),
        ("update new set id = null where id < 5; update old set id = null where id < 4", "key: [id]", 2),
        ("update new set amount = 0.07 where id = 9000", "key: [region, id]", 1),
        ("update new set region = 'east' where id = 9000", "key: [region, id]", 2),
        ("update new set amount = 1 where id = 9000; update new set memo = 'x'", "key: [id]\nignore: [memo]", 1),
        ("update new set memo = 'x'", "key: [id]\nonly: [amount, region]", 0),
        ("alter table new alter id type int, alter amount type numeric(20,4), alter region type varchar(10); update new set amount = 3.3333 where id = 4", "key: [id]", 1),
        ("alter table old alter amount type numeric; update old set amount = 12345.678901 where id = 9999; alter table new alter amount type numeric;
          update new set amount = 12345.678901 where id = 9999; update new set amount = amount + 0.1 where id = 3", "key: [id]", 1),
        ("update old set amount = 'NaN' where id = 7000; update new set amount = 'NaN' where id = 7000; update new set amount = 9 where id = 3", "key: [id]", 1),
        ("update old set memo = id || '.50'; update new set memo = id || '.50'; update old set memo = 'none' where id = 7000;
          update new set memo = 'none' where id = 7000; update new set memo = '3.5' where id = 3", "key: [id]", 1),
        ("update old set memo = null; update new set memo = null; update new set amount = 9999 where id = 1", "key: [id]", 1),
        ("alter table new add created timestamp; update new set amount = 0 where id = 77", "key: [id]", 1),
        ("alter table old alter region type char(10); update new set amount = 0 where id = 77", "key: [id]", 1),
        ("update new set posted_at = posted_at + interval '1 us' where id = 77", "key: [id]", 1),
    ];
    let tables = Tables::new();
    for (change, job, unmatched) in table {
        tables.make(change);
        let Agreed { comparison, read, whole } = tables.agree(job);
        assert_eq!((comparison.rows_unmatched, whole), (*unmatched, None), "{change}");
        // Where the ranges end is drawn by lot, and so is how many rows are in two of them.
        assert!(read.iter().all(|rows| *rows < ROWS / 2), "{read:?} rows were read: {change}");
    }
}

#[test]
fn any_ordered_column_cuts_the_key_into_ranges() {
    let tables = Tables::new();
    for key in [
        "id::int",
        "id::numeric",
        "'GB' || id",
        "('GB' || id)::varchar(40)",
        "md5(id::text)::uuid",
        "date '2000-01-01' + id::int",
        "timestamp '2000-01-01' + id * interval '1 s'",
        "posted_at",
    ] {
        tables.make(&format!(
            "alter table old rename to ledger; drop table new; create table old as select {key} as id, amount, memo from ledger;
            create table new as select * from old; update new set memo = memo || '!' where memo = 'invoice 77';
            alter table old add primary key (id); drop table ledger"
        ));
        let Agreed { comparison, read, .. } = tables.agree("key: [id]");
        assert_eq!(comparison.rows_unmatched, 1, "{key}");
        assert!(read.iter().all(|rows| *rows < ROWS / 4), "{read:?} rows were read: {key}");
    }
}

#[test]
fn everything_is_read_where_checksums_cannot_tell_or_are_not_worth_it() {
    let table = [
        // Whether text is numbers takes all of it.
        (
            "update old set memo = id; update new set memo = id || '.0'",
            "key: [id]",
            "`memo` is text that may all be numbers",
        ),
        ("alter table new alter booked_on type timestamp", "key: [id]", "`booked_on` is not of one kind"),
        (
            "alter table old alter id type float8; alter table new alter id type float8",
            "key: [id]",
            "no column of the key is ordered alike",
        ),
        (
            "update new set amount = 1 where id = 5",
            "key: [id]\nduplicates: error",
            "checksums are for rows that are paired",
        ),
        (
            "update new set amount = amount + 1 where id % 10 < 3",
            "key: [id]",
            "too many ranges of the key differ",
        ),
        ("truncate new", "key: [id]", "`region` is text that may all be numbers"),
    ];
    let tables = Tables::new();
    for (change, job, why) in table {
        tables.make(change);
        let Agreed { read, whole, .. } = tables.agree(job);
        assert_eq!(read[0], ROWS, "{change}");
        let start = format!("every row was read, not only where checksums differ: {why}");
        assert!(whole.as_ref().is_some_and(|note| note.starts_with(&start)), "{whole:?}: {change}");
    }
    tables.make("truncate old; truncate new");
    assert_eq!(tables.agree("key: [id]").comparison.rows_compared, 0);
}

#[test]
fn what_has_no_exact_sum_has_no_control_total() {
    let tables = Tables::new();
    tables.make("alter table old alter amount type float8; alter table new alter amount type float8; update new set amount = 0 where id = 7");
    let Agreed { comparison, read, .. } = tables.agree("key: [id]");
    let totals = |name: &str| comparison.measures.iter().find(|it| it.name == name).unwrap().totals.clone();
    assert_eq!((totals("amount"), comparison.rows_unmatched), (None, 1));
    assert!(read.iter().all(|rows| *rows < ROWS / 2), "{read:?} rows were read");
}

#[test]
fn what_cannot_be_read_is_not_left_out() {
    let tables = Tables::new();
    for day in ["infinity", "-infinity"] {
        tables.make(&format!(
            "update old set booked_on = '{day}' where id = 7; update new set booked_on = '{day}' where id = 7"
        ));
        let fails = |method| {
            let job = format!("{}\ncompare: {method}", Tables::job("key: [id]"));
            tables.scene.reason(tables.scene.carry_out(&job, &[]).1)
        };
        assert_eq!(fails("checksum").split(" in row").next(), fails("full").split(" in row").next());
    }
}

#[test]
fn random_changes_are_found() {
    let change = prop_oneof![
        (1..ROWS, 0..5_u64)
            .prop_map(|(id, n)| format!("update new set amount = amount + {n} where id = {id}")),
        (1..ROWS, 0..900_u64)
            .prop_map(|(id, n)| format!("delete from new where id between {id} and {}", id + n)),
        (1..ROWS, 0..900_u64)
            .prop_map(|(id, n)| format!("delete from old where id between {id} and {}", id + n)),
        (1..ROWS).prop_map(|id| format!("insert into old select * from old where id = {id}")),
        (1..ROWS).prop_map(|id| format!("insert into new select * from new where id = {id}")),
        (1..ROWS, 1..ROWS).prop_map(|(id, to)| format!("update new set id = {to} where id = {id}")),
        (1..ROWS).prop_map(|id| format!("update new set id = null where id = {id}")),
        (1..ROWS).prop_map(|id| format!("update old set memo = nullif(region, 'south') where id = {id}")),
    ];
    let job = prop_oneof![
        Just("key: [id]"),
        Just("key: [region, id]"),
        Just("key: [id]\ntolerances: {amount: '2'}")
    ];
    let changes = (proptest::collection::vec(change, 0..12), job);
    let mut runner = TestRunner::new(Config { cases: 6, failure_persistence: None, ..Config::default() });
    let tables = Tables::new();
    let checked = runner.run(&changes, |(changes, job)| {
        tables.make(&changes.join("; "));
        tables.agree(job);
        Ok(())
    });
    checked.unwrap();
}
