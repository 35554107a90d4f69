//! What is wrong is said with its place, its field, what was expected and what may have been meant.

use trueup_job::Job;

use crate::examples::examples;

fn faults(bytes: &[u8]) -> String {
    match Job::parse(bytes, None) {
        Ok(job) => format!("no fault in {job:?}"),
        Err(faults) => faults.to_string(),
    }
}

fn repeated(piece: impl Fn(usize) -> String, numbers: std::ops::Range<usize>) -> String {
    numbers.map(piece).collect::<Vec<_>>().concat()
}

#[test]
fn all_faults_of_a_document_are_found_at_once() {
    let text = r#"
name: daily revenue
parms: {}
params:
  date: {type: dat, default: x}
  n: {type: integer, default: 1.5}
  day: {type: date, default: "{{ now }}"}
connections:
  erp: {type: postgres, url: "postgres://me:hunter2@host/db"}
  wms: {type: mysql, host: db, password: 12345, pot: 1}
sources:
  ledger:
    conection: erp
    query: |
      select *
      from gl
      where d = '{{ params.day }}' and e = {{ params.dya }}
  bank:
    file: s3://{{ params.day }}/x.csv
    timezone: Europe/Londn
    columns: {a: x, b: x}
dimensions: [region, account, region]
measures:
  - {name: amount, aggregate: total}
  - {name: amount, aggregate: avg}
stages:
  - {name: fine, dimensions: [region, acount], tolerances: [{measure: amont, type: ABSOLUTE, value: 0,01}]}
  - {name: coarse, dimensions: [region], tolerances: {amount: "-1"}}
strategy: DRILL_DOWN_ON_FAILUER
schedule: {cron: "0 25 * * *"}
deadline: soon
retries: 1000
notify: {emails: [nobody]}
then: [{job: other, when: matched, params: {d: "{{ params.date - 1x }}"}}]
reference: legder
"#;
    let expected = r#"2:7: name: "daily revenue" is no name; expected at most 100 letters, digits, -, _ and ., such as daily-revenue
3:1: parms: there is no such field; did you mean `params`?
5:16: params.date.type: there is no "dat" here; did you mean `date`?
6:31: params.n.default: expected a whole number such as 42
7:30: params.day.default: expected a date such as 2026-01-31, but this is of type instant
9:30: connections.erp.url: a password is written out here; write ${env:NAME} or ${file:PATH} in its place
10:42: connections.wms.password: a credential is not written into a job; write ${env:NAME} or ${file:PATH} for the password
10:49: connections.wms.pot: there is no such field; did you mean `port`?
12:3: sources.ledger: `connection` is missing: a query is read from a database
13:5: sources.ledger.conection: there is no such field; did you mean `connection`?
17:21: sources.ledger.query: `{{ params.day }}` is inside quotes or a comment; the value is bound, not pasted, so leave them out
17:47: sources.ledger.query: `{{ params.dya }}`: there is no parameter `dya`; did you mean `day`?
19:11: sources.bank.file: the bucket or host has to be written out: a value cannot choose it
20:15: sources.bank.timezone: there is no time zone "Europe/Londn"; did you mean `Europe/London`?
21:14: sources.bank.columns: two columns are renamed to "x", one of them "b"
22:31: dimensions[2]: "region" is in the list twice
24:31: measures[0].aggregate: there is no "total" here; expected sum, count, count_distinct, min, max, avg, value
27:39: stages[0].dimensions[1]: there is no dimension "acount"; did you mean `account`?
27:71: stages[0].tolerances[0].measure: there is no measure "amont"; did you mean `amount`?
27:103: stages[0].tolerances[0].01: there is no such field; expected measure, type, value, base, allow, normalise
28:63: stages[1].tolerances.amount: a tolerance cannot be negative
29:11: strategy: there is no "DRILL_DOWN_ON_FAILUER" here; did you mean `DRILL_DOWN_ON_FAILURE`?
30:18: schedule.cron: `25` is no hour: expected 0-23, a list, a range, a step such as */5, or *
31:11: deadline: expected a duration such as 30s, 5m, 1h30m or 2d
32:10: retries: expected a whole number from 0 to 100, found the number 1000
33:19: notify.emails[0]: expected an address such as data@example.com
34:27: then[0].when: there is no "matched" here; did you mean `MATCHED`?
34:52: then[0].params.d: `{{ params.date - 1x }}` is no expression: expected a period such as 1d, 2w, 3mo, 1y or 6h
35:12: reference: there is no source "legder"; did you mean `ledger`?"#;
    assert_eq!(faults(text.as_bytes()), expected);
}

const GOOD: &str = "name: a
sources:
  x: {file: x.csv}
  y: {file: y.csv}
dimensions: [k, l]
measures: [{name: m, aggregate: sum}]
stages:
  - {name: s, dimensions: [k]}
  - {name: t, tolerances: {m: 1}}
";

#[test]
fn a_change_that_breaks_it_is_named() {
    assert!(Job::parse(GOOD.as_bytes(), None).is_ok());
    let stages = "stages:\n  - {name: s, dimensions: [k]}\n  - {name: t, tolerances: {m: 1}}\n";
    let one = "- {name: t, tolerances: {m: 1}}";
    let table = [
        ("name: a\n", "", "1:1: `name` is missing"),
        ("name: a\n", "name:\n", "1:5: name: expected a text, found nothing"),
        (
            "name: a\n",
            "name: 12\n",
            "1:7: name: expected a text, found the number 12; put it in quotes: \"12\"",
        ),
        ("  y: {file: y.csv}\n", "", "2:1: sources: expected two sources or more, found 1"),
        ("{file: y.csv}", "{}", "4:3: sources.y: one of `query`, `table` and `file` is missing"),
        (
            "{file: y.csv}",
            "{file: a, table: b}",
            "4:3: sources.y: only one of `table` and `file` can be meant",
        ),
        (
            "{file: y.csv}",
            "{file: '-'}",
            "4:13: sources.y.file: a job cannot read standard input; name a file",
        ),
        (
            "{file: y.csv}",
            "{file: 'https://me:hunter2@host/x'}",
            "4:13: sources.y.file: a password or token is written out here; name a connection that refers to it",
        ),
        (
            "{file: y.csv}",
            "{file: 'https://host/x?a=1&sig=hunter2'}",
            "4:13: sources.y.file: a password or token is written out here; name a connection that refers to it",
        ),
        (
            "{file: y.csv}",
            "{file: ftp://a/b}",
            "4:13: sources.y.file: nothing reads ftp:// paths; expected one of s3, gs, az, http, https",
        ),
        (
            "{file: y.csv}",
            "{connection: c, table: t, delimiter: ;}",
            "4:32: sources.y.delimiter: this is for files, and the source is a table",
        ),
        (
            "{file: y.csv}",
            "{file: y, delimiter: ab}",
            "4:27: sources.y.delimiter: expected one character in quotes, or tab",
        ),
        (
            "{file: y.csv}",
            "{file: y, date_formats: {d: '%Q'}}",
            "4:34: sources.y.date_formats.d: \"%Q\" is no format of dates; expected one such as %d/%m/%Y",
        ),
        ("dimensions: [k, l]", "dimensions: []", "5:13: dimensions: the list is empty"),
        (
            "dimensions: [k, l]",
            "dimensions: k",
            "5:13: dimensions: expected a list, found the text \"k\"; write [k]",
        ),
        (
            "dimensions: [k, l]",
            "key: [k, l]",
            "5:1: key: this is for jobs without stages; write `dimensions`",
        ),
        ("dimensions: [k, l]", "dimensions: [k, l, k]", "5:20: dimensions[2]: \"k\" is in the list twice"),
        (
            "aggregate: sum",
            "aggregate: total",
            "6:33: measures[0].aggregate: there is no \"total\" here; expected sum, count, count_distinct, min, max, avg, value",
        ),
        (
            "aggregate: sum",
            "aggregate: sum, column: '*'",
            "6:12: measures[0]: sum needs a column; only count can do with `*`",
        ),
        (
            "[{name: m, aggregate: sum}]",
            "[]",
            "7:1: stages: without measures rows are compared one by one, which is one stage; add `measures`",
        ),
        (
            "[{name: m, aggregate: sum}]",
            "[{name: m, aggregate: sum}, {name: m, aggregate: max}]",
            "6:39: measures[1]: there are two measures \"m\"; give one of them another name",
        ),
        (
            "dimensions: [k]",
            "dimensions: [kk]",
            "8:28: stages[0].dimensions[0]: there is no dimension \"kk\"; did you mean `k`?",
        ),
        ("name: t", "name: s", "9:5: stages[1]: there are two stages \"s\"; give one of them another name"),
        (
            one,
            "- {name: t, dimensions: [l]}\nstrategy: DRILL_DOWN_ON_FAILURE",
            "9:5: stages[1]: drilling down goes from coarse to fine: expected the dimensions of \"s\" (k) and more; order the stages, or choose strategy ALL",
        ),
        (
            one,
            "- {name: t, dimensions: [k]}\nstrategy: DRILL_DOWN_ON_FAILURE",
            "9:5: stages[1]: drilling down goes from coarse to fine: expected the dimensions of \"s\" (k) and more; order the stages, or choose strategy ALL",
        ),
        (
            one,
            "- {name: t}\nstrategy: PARALEL",
            "10:11: strategy: there is no \"PARALEL\" here; did you mean `PARALLEL`?",
        ),
        (
            one,
            "- {name: t}\nmax_stage_concurrency: 2",
            "10:1: max_stage_concurrency: this is for PARALLEL, and the strategy is ALL",
        ),
        ("{m: 1}", "{n: 1}", "9:28: stages[1].tolerances.n: there is no measure \"n\"; expected m"),
        ("{m: 1}", "{m: -1}", "9:31: stages[1].tolerances.m: a tolerance cannot be negative"),
        ("{m: 1}", "{m: 1x}", "9:31: stages[1].tolerances.m: expected 0.01, 0.5%, 2d, -1d..+3d or exact"),
        (
            "{m: 1}",
            "{m: 1d}",
            "9:31: stages[1].tolerances.m: DURATION is for dates and times, and this measure is a number",
        ),
        ("{m: 1}", "{m: 1d..2d}", "9:31: stages[1].tolerances.m: expected a range around 0 such as -1d..+3d"),
        ("{m: 1}", "[{type: EXACT}]", "9:28: stages[1].tolerances[0]: `measure` is missing"),
        (
            "{m: 1}",
            "[{measure: m, type: ABSOLUTE}]",
            "9:28: stages[1].tolerances[0]: `value` is missing: how far ABSOLUTE lets values be apart",
        ),
        (
            "{m: 1}",
            "[{measure: m, type: EXACT, value: 1}]",
            "9:54: stages[1].tolerances[0].value: EXACT has no value: it is equal or not",
        ),
        (
            "{m: 1}",
            "[{measure: m, type: ABSOLUTE, value: 1, base: mean}]",
            "9:67: stages[1].tolerances[0].base: this is for PERCENTAGE, and the tolerance is ABSOLUTE",
        ),
        (
            "{m: 1}",
            "[{measure: m, type: PERCENTAGE, value: 1, base: z}]",
            "9:75: stages[1].tolerances[0].base: there is no base \"z\"; expected larger, smaller, mean, x, y",
        ),
        (
            "{m: 1}",
            "[{measure: m, type: absolute, value: 1}]",
            "9:47: stages[1].tolerances[0].type: there is no \"absolute\" here; did you mean `ABSOLUTE`?",
        ),
        (
            "{m: 1}",
            "[{measure: m, type: DURATION, value: 1}]",
            "9:64: stages[1].tolerances[0].value: expected a duration such as 30s, 5m, 1h30m or 2d",
        ),
        (
            "{m: 1}",
            "[{measure: m, type: ABSOLUTE, value: 1, allow: some}]",
            "9:74: stages[1].tolerances[0].allow: expected a number of groups such as 5, or a share such as 0.1%",
        ),
        (
            "{m: 1}",
            "[{measure: m, type: EXACT}, {measure: m, type: EXACT}]",
            "9:55: stages[1].tolerances[1]: \"m\" has two tolerances",
        ),
        (
            stages,
            "tolerances: {m: 1}\nonly: [m]\n",
            "8:1: only: with measures, their columns are compared and no others",
        ),
        (
            stages,
            "duplicates: multiset\n",
            "7:13: duplicates: measures take all rows of a key together; expected aggregate or error",
        ),
        (
            stages,
            "compare: checksum\n",
            "7:10: compare: checksums are for rows, not for measures\n7:10: compare: checksums are for two sources that are tables of databases",
        ),
        (stages, "reference: z\n", "7:12: reference: there is no source \"z\"; expected x, y"),
        (stages, "then: [{job: a}]\n", "7:14: then[0].job: a job that starts itself would never end"),
        (
            stages,
            "schedule: {cron: '0 6 30 2 *', timezone: Europe/Londn}\n",
            "7:18: schedule.cron: this day never comes: no month of these has it\n7:42: schedule.timezone: there is no time zone \"Europe/Londn\"; did you mean `Europe/London`?",
        ),
        (
            stages,
            "deadline: 0s\nmemory: lots\nthreads: 0\n",
            "7:11: deadline: expected a duration of at least a second\n8:9: memory: expected an amount of memory such as 2GB, 512MiB or 60%\n9:10: threads: expected a whole number from 1 to 1024, found the number 0",
        ),
        (
            stages,
            "notify: {emails: [a], detail: SUMARY, max_rows: 5}\n",
            "7:19: notify.emails[0]: expected an address such as data@example.com\n7:31: notify.detail: there is no \"SUMARY\" here; did you mean `SUMMARY`?",
        ),
        (
            stages,
            "params: {a-b: {type: date}, c: {type: date, default: '{{ params.d }}'}}\n",
            "7:10: params.a-b: a parameter is named with letters, digits and _, and no digit first\n7:54: params.c.default: a default uses `today` or `now`, not other parameters",
        ),
        (
            stages,
            "connections: {c: {type: postgress}, d: {url: x}, e: {type: postgres}}\n",
            "7:25: connections.c.type: there is no \"postgress\" here; did you mean `postgres`?\n7:37: connections.d: `type` is missing; expected one of postgres, mysql, sqlite, odbc, file, s3, gs, az, http\n7:50: connections.e: `url` or `host` is missing",
        ),
        (
            stages,
            "connections: {c: {type: postgres, url: '${ERP}', host: h}}\n",
            "7:40: connections.c.url: expected ${env:NAME} or ${file:PATH}\n7:50: connections.c.host: `url` already says this; leave out one of them",
        ),
    ];
    for (from, to, expected) in table {
        assert!(GOOD.contains(from), "{from}");
        assert_eq!(faults(GOOD.replace(from, to).as_bytes()), expected, "{to}");
    }
}

#[test]
fn what_is_no_document() {
    let deep = "[".repeat(10_000);
    let laugh = |at: usize| format!("a{at}: &x{at} [*x{}, *x{}]\n", at - 1, at - 1);
    let laughs = format!("a0: &x0 [a]\n{}", repeated(laugh, 1..40));
    let huge = "a".repeat(2 << 20);
    let many = "- a\n".repeat(60_000);
    let table: [(&[u8], &str); 18] = [
        (b"", "1:1: the document is empty; start with `name:`"),
        (b"# nothing\n", "1:1: the document is empty; start with `name:`"),
        (b"- a\n", "1:1: expected a mapping, found a list; its fields are name, description, params, …"),
        (b"name: a\n---\nname: b\n", "2:1: a second document starts here; keep one job in a file"),
        (b"name: a\nname: b\n", "2:1: the key \"name\" is here twice; keep one of them"),
        (
            b"name: a\nkey:\n\t- a\n",
            "3:2: this is not YAML: tabs disallowed within this context (block indentation); YAML does not allow tabs for indentation: use spaces",
        ),
        (b"name: !!str a\n", "1:13: tags such as `!!str` mean nothing here; leave it out"),
        (b"%YAML 1.2\n---\nname: a\n", "1:1: this is not YAML: "),
        (b"name: \"a\n", "2:1: this is not YAML: invalid indentation in multiline quoted scalar"),
        (b"a: &x [*x]\n", "1:8: this alias is part of what it stands for; write it out"),
        (b"a: *x\n", "1:4: this is not YAML: "),
        (b"? [a]\n: b\n", "1:3: a key has to be a text; write `name: value`"),
        (b"name: a\xff\n", "1:8: this is not UTF-8; save the file in UTF-8"),
        (b"name: \"a\\0\"\n", "1:7: this has the character '\\0' in it, which cannot be printed; remove it"),
        (deep.as_bytes(), "1:"),
        (laughs.as_bytes(), "the document has more than 10000 values, aliases written out"),
        (huge.as_bytes(), "1:1: the document has 2097152 bytes, at most 1048576 are read"),
        (many.as_bytes(), "10001:3: the document has more than 10000 values"),
    ];
    for (bytes, expected) in table {
        let found = faults(bytes);
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]);
        assert!(found.contains(expected), "{shown}: {found}");
    }
}

#[test]
fn credentials_are_not_shown() {
    let text = examples()[2].replace("host: db.example.com", "host: db.example.com, extra: hunter2");
    let wrong = [
        "password: hunter2",
        "password: [hunter2]",
        "password: 'x${env:A}hunter2'",
        "url: 'mysql://a:hunter2@b'",
    ];
    for wrong in wrong {
        let found = faults(text.replace("password: \"${file:/run/secrets/trades}\"", wrong).as_bytes());
        assert!(found.contains("connections.trades") && !found.contains("hunter2"), "{found}");
    }
}

/// Documents in which everything is wrong, as often as fits.
#[test]
fn no_number_of_faults_is_too_much() {
    let params = repeated(|at| format!("  p{at}xxxxxxxxxxxxxxxx: {{type: date}}\n"), 0..3000);
    let unknown = repeated(|at| format!("{{{{ params.q{at}xxxxxxxxxxxxxxxx }}}} "), 0..30_000);
    let names = repeated(|at| format!("n{at}, "), 0..4000);
    let zones = repeated(|at| format!("  s{at}: {{file: x, timezone: Europe/Lodnon}}\n"), 0..2000);
    let documents = [
        format!("name: a\nparams:\n{params}sources: {{x: {{connection: c, query: \"{unknown}\"}}}}\n"),
        format!("dimensions: [{names}]\nstages: [{{name: a, dimensions: [{}]}}]\n", names.replace('n', "m")),
        format!("sources:\n{zones}"),
        format!("sources: {{x: {{file: \"{}\"}}}}\n", "{{ today }}".repeat(80_000)),
        repeated(|at| format!("f{at}: 1\n"), 0..9000),
        format!("key: [\"{}\"]\nnmae: {}\n", "k".repeat(400_000), "v".repeat(400_000)),
    ];
    for document in documents {
        let found = faults(document.as_bytes());
        assert!(found.len() < 1 << 20 && !found.starts_with("no fault"));
    }
}
