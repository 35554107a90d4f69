//! `compare: checksum` between databases of two kinds, and between two of MariaDB.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use trueup_testkit::{Mariadb, Postgres};

use crate::checksum::{Agreed, agree};
use crate::scene::Scene;

const ROWS: usize = 6_000;
/// How many rows a statement inserts, which a process takes as an argument.
const INSERTED: usize = 400;

/// A column: its name, and its types in PostgreSQL and MariaDB.
type Column = (&'static str, [&'static str; 2]);

const COLUMNS: [Column; 12] = [
    ("id", ["bigint", "int unsigned"]),
    ("name", ["text", "varchar(40)"]),
    ("amount", ["numeric(18,2)", "decimal(20,4)"]),
    ("rate", ["numeric", "decimal(30,10)"]),
    ("units", ["int", "bigint(20) unsigned zerofill"]),
    ("day", ["date", "date"]),
    ("clock", ["time", "time(3)"]),
    ("wall", ["timestamp", "datetime(6)"]),
    ("moment", ["timestamptz", "timestamp(6) null"]),
    ("flag", ["boolean", "boolean"]),
    ("code", ["uuid", "uuid"]),
    ("raw", ["bytea", "varbinary(20)"]),
];

/// What is read as truth values, since MariaDB has numbers for them.
const CASTS: &str = "casts: {flag: boolean}";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    Postgres,
    Mariadb,
}
use System::{Mariadb as My, Postgres as Pg};

const PAIRS: [[System; 2]; 3] = [[Pg, My], [My, Pg], [My, My]];

/// The value of a row, NULL in some of them, as SQL has it in either system.
fn value(column: &str, row: usize, system: System) -> String {
    if column != "id" && (row + column.len()).is_multiple_of(11) {
        return "null".to_owned();
    }
    let text = match column {
        "id" | "units" => row.to_string(),
        "name" => {
            format!("{} {row}", ["Ada", "ada", "Émile ", "O''Brien \\", "名前 🦀", "e\u{301}"][row % 6])
        }
        "amount" => format!("{}.{:02}", (row * 7 % 1009).cast_signed() - 500, row % 100),
        "rate" => format!("{}.{}", row % 50, ["5", "50", "0", "0000000001"][row % 4]),
        "day" => format!("20{:02}-{:02}-{:02}", row % 90 + 10, row % 12 + 1, row % 28 + 1),
        "clock" => format!("{:02}:{:02}:00.{:03}", row % 24, row % 60, row % 3 * 500),
        "wall" => format!("2026-03-29 02:{:02}:{:02}.{:06}", row / 60 % 60, row % 60, row % 5 * 100_000),
        "moment" => {
            let zone = if system == Pg { "+00" } else { "" };
            format!("2026-10-25 {:02}:{:02}:{:02}.000001{zone}", row / 3600, row / 60 % 60, row % 60)
        }
        "flag" => return row.is_multiple_of(3).to_string(),
        "code" => format!("{:08x}-4e5f-4607-8899-{:012x}", row * 7919, row),
        "raw" if system == Pg => format!("\\x00{row:06x}ff"),
        _ => return format!("x'00{row:06x}ff'"),
    };
    format!("'{text}'")
}

/// Two tables, `old` and `new`, and a third that they are copies of in each database.
struct Tables {
    scene: Scene,
    postgres: String,
    mariadb: String,
}

impl Tables {
    fn new(columns: &[Column]) -> Self {
        let mut scene = Scene::new(&[]);
        let postgres = Postgres::shared().database().unwrap();
        let mariadb = Mariadb::shared().database().unwrap();
        scene.variables.insert("PG", postgres.clone());
        scene.variables.insert("MY", Mariadb::shared().url(&mariadb));
        let tables = Self { scene, postgres, mariadb };
        for system in [Pg, My] {
            let column = |(name, types): &Column| format!("{name} {}", types[system as usize]);
            let columns_of: Vec<String> = columns.iter().map(column).collect();
            let tuple = |row: usize| {
                let cells: Vec<String> = columns.iter().map(|(name, _)| value(name, row, system)).collect();
                format!("({})", cells.join(","))
            };
            tables.run(system, &format!("create table base ({})", columns_of.join(", ")));
            let tuples: Vec<String> = (1..=ROWS).map(tuple).collect();
            for some in tuples.chunks(INSERTED) {
                tables.run(system, &format!("insert into base values {}", some.join(",")));
            }
        }
        tables
    }

    fn run(&self, system: System, sql: &str) {
        match system {
            Pg => Postgres::shared().execute(&self.postgres, sql).unwrap(),
            My => {
                let settings =
                    "set time_zone = '+00:00', sql_mode = 'NO_BACKSLASH_ESCAPES,ALLOW_INVALID_DATES';";
                Mariadb::shared().run(&self.mariadb, &format!("{settings} {sql}")).unwrap();
            }
        }
    }

    /// Makes both tables anew, and changes them.
    fn make(&self, pair: [System; 2], changes: [&str; 2]) {
        for ((system, name), change) in pair.into_iter().zip(["old", "new"]).zip(changes) {
            let change = change.replace("TABLE", name);
            self.run(
                system,
                &format!("drop table if exists {name}; create table {name} as select * from base; {change}"),
            );
        }
    }

    fn job(pair: [System; 2], rest: &str) -> String {
        let connection = |system| if system == Pg { "pg" } else { "my" };
        format!(
            "name: cut-over
connections: {{pg: {{type: postgres, url: '${{env:PG}}'}}, my: {{type: mysql, url: '${{env:MY}}'}}}}
sources:
  old: {{connection: {}, table: old, {CASTS}}}
  new: {{connection: {}, table: new, {CASTS}}}
{rest}",
            connection(pair[0]),
            connection(pair[1])
        )
    }

    fn agree(&self, pair: [System; 2], rest: &str) -> Agreed {
        agree(&self.scene, &Self::job(pair, rest))
    }
}

#[test]
fn what_differs_is_found_and_little_else_is_read() {
    let table = [
        // (what becomes of the second table, how many groups are not matched)
        ("", 0),
        ("update TABLE set amount = amount + 0.01 where id in (7, 5000)", 2),
        ("update TABLE set rate = rate + 0.0000000001 where id = 8", 1),
        ("update TABLE set name = upper(name) where id = 8", 1),
        ("update TABLE set name = concat(name, ' ') where id = 8", 1),
        ("update TABLE set name = '' where id in (7, 4)", 2),
        ("update TABLE set clock = '12:00:00.001' where id = 8", 1),
        ("update TABLE set wall = '2026-03-29 02:00:00.000001' where id = 8", 1),
        ("update TABLE set flag = not flag where id = 8", 1),
        ("update TABLE set flag = null, raw = null where id = 9", 1),
        ("update TABLE set code = '00000000-0000-0000-0000-000000000000' where id = 9", 1),
        ("delete from TABLE where id < 30", 29),
        ("insert into TABLE select * from base where id = 77", 1),
        ("update TABLE set id = null where id = 77", 2),
        ("update TABLE set id = 70001 - id where id = 77", 2),
    ];
    let tables = Tables::new(&COLUMNS);
    for (at, (change, unmatched)) in table.into_iter().enumerate() {
        let pair = PAIRS[at % PAIRS.len()];
        tables.make(pair, ["", change]);
        let Agreed { comparison, read, whole } = tables.agree(pair, "key: [id]");
        assert_eq!((comparison.rows_unmatched, whole), (unmatched, None), "{pair:?}: {change}");
        assert!(
            read.iter().all(|rows| *rows < ROWS as u64 / 2),
            "{pair:?}: {read:?} rows were read: {change}"
        );
    }
}

#[test]
fn any_ordered_column_cuts_the_key_into_ranges() {
    let keys: [Column; 8] = [
        ("name", ["text", "varchar(40) collate utf8mb4_general_ci"]),
        ("name", ["varchar(40)", "varchar(40) collate utf8mb4_bin"]),
        ("code", ["uuid", "uuid"]),
        ("code", ["uuid", "char(36) charset latin1"]),
        ("rate", ["numeric", "decimal(38,10)"]),
        ("units", ["numeric(20)", "bigint unsigned"]),
        ("day", ["date", "date"]),
        ("moment", ["timestamptz", "timestamp(6) null"]),
    ];
    for (at, key) in keys.into_iter().enumerate() {
        let tables = Tables::new(&[key, ("amount", ["numeric(18,2)", "decimal(18,2)"]), COLUMNS[9]]);
        let pair = PAIRS[at % PAIRS.len()];
        tables.make(pair, ["", "update TABLE set amount = amount + 1 where amount = -493.01"]);
        let Agreed { comparison, read, whole } = tables.agree(pair, &format!("key: [{}]", key.0));
        assert_eq!(whole, None, "{pair:?}: {key:?}");
        assert!(comparison.rows_unmatched > 0, "{pair:?}: {key:?}");
        assert!(
            read.iter().all(|rows| *rows < ROWS as u64 / 2),
            "{pair:?}: {read:?} rows were read: {key:?}"
        );
    }
}

#[test]
fn everything_is_read_where_the_databases_cannot_agree() {
    let table = [
        (["double precision", "double"], "", "`rate` holds floats"),
        (["real", "decimal(30,10)"], "", "`rate` holds floats"),
        (["text", "text"], "", "`rate` is text that may all be numbers"),
        (["text", "decimal(30,10)"], "", "`rate` is not of one kind"),
        (["text", "decimal(60,10)"], "", "`rate` is text that may all be numbers"),
        (
            ["numeric", "decimal(30,10)"],
            "update TABLE set rate = rate + 1 where id % 10 < 3",
            "too many ranges",
        ),
    ];
    for (at, (types, change, why)) in table.into_iter().enumerate() {
        let tables = Tables::new(&[COLUMNS[0], ("rate", types), COLUMNS[9]]);
        let pair = PAIRS[at % 2];
        tables.make(pair, ["", change]);
        let Agreed { read, whole, .. } = tables.agree(pair, "key: [id]");
        assert_eq!(read, [ROWS as u64; 2], "{pair:?}: {types:?}");
        assert!(whole.as_ref().is_some_and(|note| note.contains(why)), "{whole:?}: {types:?}");
    }
}

#[test]
fn what_cannot_be_read_is_not_left_out() {
    let changes = [
        "update TABLE set day = '0000-00-00' where id = 70",
        "update TABLE set day = '2026-02-31' where id = 70",
        "update TABLE set wall = '2026-00-01' where id = 70",
        "update TABLE set clock = '24:00:00' where id = 70",
        "update TABLE set flag = 2 where id = 70",
    ];
    let tables = Tables::new(&COLUMNS);
    for change in changes {
        tables.make([My, My], [change, change]);
        let fails = |method| {
            let job = format!("{}\ncompare: {method}", Tables::job([My, My], "key: [id]"));
            tables.scene.reason(tables.scene.carry_out(&job, &[]).1)
        };
        let (pruned, full) = (fails("checksum"), fails("full"));
        // The rows that are read count from one.
        assert_eq!(pruned.split("row").next(), full.split("row").next(), "{change}");
    }
}

#[test]
fn random_changes_are_found() {
    let id = 1..=ROWS;
    let change = prop_oneof![
        (id.clone(), 0..5_u64)
            .prop_map(|(id, n)| format!("update TABLE set amount = amount + {n} where id = {id}")),
        (id.clone(), 0..400_usize)
            .prop_map(|(id, n)| format!("delete from TABLE where id between {id} and {}", id + n)),
        id.clone().prop_map(|id| format!("insert into TABLE select * from base where id = {id}")),
        (id.clone(), 0..COLUMNS.len()).prop_map(|(id, column)| {
            format!("update TABLE set {} = null where id = {id}", COLUMNS[column].0)
        }),
        (id.clone(), id.clone(), 1..COLUMNS.len() - 1).prop_map(|(id, other, column)| {
            let set = COLUMNS[column].0;
            format!("update TABLE set {set} = (select {set} from base where id = {other}) where id = {id}")
        }),
    ];
    let job = prop_oneof![
        Just("key: [id]"),
        Just("key: [code]"),
        Just("key: [name, id]"),
        Just("key: [id]\ntolerances: {amount: '2'}")
    ];
    let changes = proptest::collection::vec(change, 0..8).prop_map(|changes| changes.join("; "));
    let cases = (changes.clone(), changes, job, 0..PAIRS.len());
    let mut runner = TestRunner::new(Config { cases: 8, failure_persistence: None, ..Config::default() });
    let tables = Tables::new(&COLUMNS);
    let checked = runner.run(&cases, |(left, right, job, pair)| {
        tables.make(PAIRS[pair], [&left, &right]);
        tables.agree(PAIRS[pair], job);
        Ok(())
    });
    checked.unwrap();
}
