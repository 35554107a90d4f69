//! Filters, casts, and numbers as people write them.

use std::fmt::Write as _;

use rusqlite::Connection;
use trueup_events::outcome::Verdict;
use trueup_reconcile::{Carried, Stopped};

use crate::scene::Scene;

const LEDGER: &str = "id,day,amount\n1,2026-01-31,1234.5\n2,2026-02-01,-7\n";

/// A verdict with the keys that break, or why there is none.
fn outcome(scene: &Scene, outcome: Result<Carried, Stopped>) -> String {
    let carried = match outcome {
        Ok(carried) => carried,
        refused @ Err(_) => return scene.reason(refused),
    };
    if carried.verdict == Verdict::Matched {
        return "MATCHED".to_owned();
    }
    let comparison = &carried.stages[0].1;
    let keys = comparison.breaks.iter().map(|found| format!("{:?}", found.key));
    let findings = comparison.findings.iter().map(ToString::to_string);
    format!("UNMATCHED {}", keys.chain(findings).collect::<Vec<_>>().join(", "))
}

#[test]
fn a_bank_in_its_own_words() {
    let german = "id;day;amount\n1;31.01.2026;1.234,50\n2;01.02.2026;-7,0\n";
    let trailer = "id,day,amount,kind\n1,2026-01-31,1234.50,N\n2,2026-02-01,-7.00,N\nTOTAL,,1227.50,T\n";
    let spaced = "id,day,amount\n1,2026-01-31,\"1\u{a0}234,5\"\n2,2026-02-01,-7\n";
    let table = [
        // Rows that do not count.
        ("filter: \"kind <> 'T'\"", trailer),
        ("filter: 'kind = {{ params.kind }} and amount <> 0'", trailer),
        ("filter: amount < 0", trailer),
        (
            "filter: amount <> 0",
            "id,day,amount\n1,2026-01-31,1234.5\n2,2026-02-01,-7\n3,2026-02-01,0.00\n4,2026-02-01,\n",
        ),
        (
            "filter: 'day <= {{ params.day }}'",
            "id,day,amount\n1,2026-01-31,1234.5\n2,2026-02-01,-7\n3,2026-02-02,1\n",
        ),
        (
            "filter: \"konto = 'x'\", columns: {k: konto}",
            "id,day,amount,k\n1,2026-01-31,1234.5,x\n2,2026-02-01,-7,x\n2,2026-02-01,-7,y\n",
        ),
        ("filter: amount > 5", "id,day,amount\n1,2026-01-31,1234.5\n2,2026-02-01,n/a\n"),
        ("filter: 1 = 0", LEDGER),
        // Types.
        ("casts: {id: integer}", "id,day,amount\n0001,2026-01-31,1234.5\n0002,2026-02-01,-7\n"),
        ("casts: {id: integer}", "id,day,amount\n1.0,2026-01-31,1234.5\n2.5,2026-02-01,-7\n"),
        ("casts: {amount: decimal}", "id,day,amount\n1,2026-01-31, +1234.500\n2,2026-02-01,-007\n"),
        ("casts: {amount: decimal}", "id,day,amount\n1,2026-01-31,1234.5\n2,2026-02-01,NaN\n"),
        (
            "casts: {day: date}, date_formats: {day: '%d.%m.%Y'}",
            "id,day,amount\n1,31.01.2026,1234.5\n2,01.02.2026,-7\n",
        ),
        ("casts: {day: date}", "id,day,amount\n1,2026-01-31 00:00:00,1234.5\n2,2026-02-01,-7\n"),
        ("casts: {day: date}", "id,day,amount\n1,2026-01-31 10:00:00,1234.5\n2,2026-02-01,-7\n"),
        ("casts: {day: date}", "id,day,amount\n1,31/01/2026,1234.5\n2,01/02/2026,-7\n"),
        ("casts: {id: string}", "id,day,amount\n1,2026-01-31,1234.5\n02,2026-02-01,-7\n"),
        ("casts: {amount: boolean}", "id,day,amount\n1,2026-01-31,yes\n2,2026-02-01,maybe\n"),
        (
            "casts: {id: integer}, filter: id > 1 or amount > 0",
            "id,day,amount\n001,2026-01-31,1234.5\n002,2026-02-01,-7\n",
        ),
        // Numbers as people write them.
        ("decimal_separator: ',', thousands_separator: '.', date_formats: {day: '%d.%m.%Y'}", german),
        (
            "decimal_separator: ',', thousands_separator: '.', date_formats: {day: '%d.%m.%Y'}, filter: 'amount > 1000 or amount < 0'",
            german,
        ),
        (
            "decimal_separator: ',', thousands_separator: '.', date_formats: {day: '%d.%m.%Y'}, casts: {amount: decimal, day: date}",
            german,
        ),
        ("decimal_separator: ',', thousands_separator: \"\u{a0}\"", spaced),
        (
            "decimal_separator: ',', thousands_separator: \"\u{a0}\", casts: {amount: decimal}",
            "id,day,amount\n1,2026-01-31,\"1234,5\"\n2,2026-02-01,\"-7.0\"\n",
        ),
        (
            "thousands_separator: ',', casts: {amount: decimal}",
            "id,day,amount\n1,2026-01-31,\"1,234.5\"\n2,2026-02-01,\"1,23,456\"\n",
        ),
        ("thousands_separator: ','", "id,day,amount\n1,2026-01-31,\"1,234.5\"\n2,2026-02-01,\"1,23,456\"\n"),
    ];
    let mut shown = String::new();
    for (declared, content) in table {
        let scene = Scene::new(&[("a.csv", LEDGER), ("b.csv", content)]);
        let params = "{kind: {type: string, default: N}, day: {type: date, default: 2026-02-01}}";
        let sources = format!("{{ledger: {{file: a.csv}}, bank: {{file: b.csv, {declared}}}}}");
        let job =
            format!("{{name: j, key: [id], only: [day, amount], params: {params}, sources: {sources}}}");
        let (_, carried) = scene.carry_out(&job, &[]);
        writeln!(shown, "{declared}\n  {}", outcome(&scene, carried)).unwrap();
    }
    insta::assert_snapshot!(shown, @r#"
    filter: "kind <> 'T'"
      MATCHED
    filter: 'kind = {{ params.kind }} and amount <> 0'
      MATCHED
    filter: amount < 0
      UNMATCHED [Some("1")]
    filter: amount <> 0
      MATCHED
    filter: 'day <= {{ params.day }}'
      MATCHED
    filter: "konto = 'x'", columns: {k: konto}
      MATCHED
    filter: amount > 5
      SOURCE_INVALID: bank: …/b.csv, line 3: filter: column `amount`: `n/a` is no number such as 1234.56
    filter: 1 = 0
      UNMATCHED [Some("1")], [Some("2")]
    casts: {id: integer}
      MATCHED
    casts: {id: integer}
      SOURCE_INVALID: bank: …/b.csv, line 3: column `id`: `2.5` is no whole number
    casts: {amount: decimal}
      MATCHED
    casts: {amount: decimal}
      SOURCE_INVALID: bank: …/b.csv, line 3: column `amount`: `NaN` is no decimal such as 1234.56
    casts: {day: date}, date_formats: {day: '%d.%m.%Y'}
      MATCHED
    casts: {day: date}
      MATCHED
    casts: {day: date}
      SOURCE_INVALID: bank: …/b.csv, line 2: column `day`: `2026-01-31 10:00:00` is a date with a time of day
    casts: {day: date}
      SOURCE_INVALID: bank: …/b.csv, line 2: column `day`: `31/01/2026` is not a date such as 2026-01-31; if it is written otherwise, declare `date_formats`
    casts: {id: string}
      UNMATCHED [Some("02")], [Some("2")]
    casts: {amount: boolean}
      SOURCE_INVALID: bank: …/b.csv, line 3: column `amount`: `maybe` is no truth value such as true, false, yes, no, 1 and 0
    casts: {id: integer}, filter: id > 1 or amount > 0
      MATCHED
    decimal_separator: ',', thousands_separator: '.', date_formats: {day: '%d.%m.%Y'}
      MATCHED
    decimal_separator: ',', thousands_separator: '.', date_formats: {day: '%d.%m.%Y'}, filter: 'amount > 1000 or amount < 0'
      MATCHED
    decimal_separator: ',', thousands_separator: '.', date_formats: {day: '%d.%m.%Y'}, casts: {amount: decimal, day: date}
      MATCHED
    decimal_separator: ',', thousands_separator: " "
      MATCHED
    decimal_separator: ',', thousands_separator: " ", casts: {amount: decimal}
      SOURCE_INVALID: bank: …/b.csv, line 3: column `amount`: `-7.0` is no decimal such as 1 234,56, with thousands in groups of three
    thousands_separator: ',', casts: {amount: decimal}
      SOURCE_INVALID: bank: …/b.csv, line 3: column `amount`: `1,23,456` is no decimal such as 1,234.56, with thousands in groups of three
    thousands_separator: ','
      UNMATCHED [Some("1")], [Some("2")], amount: number in ledger, text in bank: compared as text
    "#);
}

#[test]
fn sources_agree_on_what_is_text() {
    let scene = Scene::new(&[("a.csv", LEDGER), ("b.csv", LEDGER)]);
    let job = "{name: j, key: [id], sources: {ledger: {file: a.csv, casts: {id: string}}, bank: {file: b.csv, casts: {id: CAST}}}}";
    let table = [
        ("string", "MATCHED"),
        ("integer", "INVALID_JOB: sources.bank.casts.id: it is integer here and string in ledger"),
    ];
    for (cast, expected) in table {
        let (_, carried) = scene.carry_out(&job.replace("CAST", cast), &[]);
        assert_eq!(outcome(&scene, carried), expected);
    }
}

/// Enough for several parts.
const ROWS: u32 = 200_000;

#[test]
fn rows_are_found_again_behind_a_filter() {
    let (mut all, mut kept) = ("id,kind,note\n".to_owned(), "id,kind,note\n".to_owned());
    for id in 0..ROWS {
        let kind = if id % 3 == 0 { "N" } else { "T" };
        writeln!(all, "{id},{kind},a note of the row {id}").unwrap();
        if kind == "N" {
            let note = if id % 30_000 == 0 { "another" } else { "a" };
            writeln!(kept, "{id},{kind},{note} note of the row {id}").unwrap();
        }
    }
    let scene = Scene::new(&[("a.csv", &all), ("b.csv", &kept)]);
    let job = "{name: j, key: [id], sources: {a: {file: a.csv, filter: \"kind = 'N'\"}, b: {file: b.csv}}}";
    let (_, outcome) = scene.carry_out(job, &[]);
    let comparison = &outcome.unwrap().stages[0].1;
    assert_eq!(comparison.source_row_counts, [u64::from(ROWS.div_ceil(3)); 2]);
    let ids: Vec<String> =
        comparison.breaks.iter().map(|found| found.key[0].clone().unwrap_or_default()).collect();
    assert_eq!(ids, ["0", "30000", "60000", "90000", "120000", "150000", "180000"]);
    let values = |id: &str| ["a", "another"].map(|note| Some(Some(format!("{note} note of the row {id}"))));
    for (found, id) in comparison.breaks.iter().zip(&ids) {
        assert_eq!(found.cells[1].values, values(id));
    }
}

#[test]
fn a_line_is_that_of_the_file_whatever_is_left_out() {
    let mut all = "id,kind,day\n".to_owned();
    for id in 0..ROWS {
        let day = if id == 123_456 { "31.02.2026" } else { "01.02.2026" };
        writeln!(all, "{id},{},{day}", if id % 2 == 0 { "N" } else { "T" }).unwrap();
    }
    let scene = Scene::new(&[("a.csv", &all)]);
    for cast in ["", "casts: {day: date}, "] {
        let source =
            format!("{{file: a.csv, {cast}date_formats: {{day: '%d.%m.%Y'}}, filter: \"kind = 'N'\"}}");
        let (_, outcome) =
            scene.carry_out(&format!("{{name: j, key: [id], sources: {{a: {source}, b: {source}}}}}"), &[]);
        let reason = scene.reason(outcome);
        assert!(reason.contains("a.csv, line 123458: column `day`: `31.02.2026` does not fit"), "{reason}");
    }
}

#[test]
fn a_database_is_filtered_as_a_file_is() {
    let scene = Scene::new(&[("a.csv", "id,amount,active\n1,10.50,true\n2,0,false\n3,7,true\n")]);
    let sqlite = Connection::open(scene.path("b.db")).unwrap();
    let rows = "create table t (id integer, amount text, active integer);
        insert into t values (1, '10.5', 1), (3, '7.0', 1), (4, '1', 0), (5, null, 1)";
    sqlite.execute_batch(rows).unwrap();
    let job = "
name: j
connections: {db: {type: sqlite, path: b.db}}
key: [id]
sources:
  a: {file: a.csv, filter: active}
  b: {connection: db, table: t, casts: {active: boolean}, filter: active and amount > 0}
";
    let (_, carried) = scene.carry_out(job, &[]);
    assert_eq!(outcome(&scene, carried), "MATCHED");
}
