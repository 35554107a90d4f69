//! Conditions in SQL: what they say, and what is refused where.

use proptest::prelude::*;
use serde_json::json;
use trueup_job::{Faults, Filter, Job};

fn parsed(filter: &str) -> Result<Filter, Faults> {
    let job = json!({
        "name": "j", "key": ["k"], "params": {"d": {"type": "date"}, "n": {"type": "integer"}},
        "sources": {"x": {"file": "x", "filter": filter}, "y": {"file": "y"}},
    });
    let mut job = Job::parse(job.to_string().as_bytes(), None)?;
    Ok(job.sources.swap_remove(0).filter.expect("there is a filter"))
}

#[test]
fn conditions_are_read_as_sql_reads_them() {
    let table = [
        (
            "a = 1 or b = 2 and c",
            "Or(Compared(Column(\"a\"), Equal, Value(Decimal(1))), And(Compared(Column(\"b\"), Equal, Value(Decimal(2))), Column(\"c\")))",
        ),
        ("NOT a IS NULL", "Not(IsNull(Column(\"a\")))"),
        (
            "a + 2 * -3 >= {{ params.n }}",
            "Compared(Calculated(Column(\"a\"), Add, Calculated(Value(Decimal(2)), Multiply, Negative(Value(Decimal(3))))), AtLeast, Bound(0))",
        ),
        ("a NOT IN ({{ params.n }}, {{ params.n }})", "Not(In(Column(\"a\"), [Bound(0), Bound(1)]))"),
        ("date = DATE '2026-01-31'", "Compared(Column(\"date\"), Equal, Value(Date(2026-01-31)))"),
        ("\"Amount (GBP)\" < .5", "Compared(Column(\"Amount (GBP)\"), Less, Value(Decimal(0.5)))"),
        ("Größe <> '''s'", "Compared(Column(\"Größe\"), Different, Value(String(\"'s\")))"),
        (
            "a LIKE 'x!%' ESCAPE '!'",
            "Like { text: Column(\"a\"), pattern: Value(String(\"x!%\")), escape: Some('!') }",
        ),
        (
            "TRIM(a) = substring(b, 2)",
            "Compared(Call(Trim, [Column(\"a\")]), Equal, Call(Substr, [Column(\"b\"), Value(Decimal(2))]))",
        ),
        (
            "a between 1 and 2",
            "And(Compared(Column(\"a\"), AtLeast, Value(Decimal(1))), Compared(Column(\"a\"), AtMost, Value(Decimal(2))))",
        ),
    ];
    for (filter, expected) in table {
        assert_eq!(format!("{:?}", parsed(filter).unwrap().condition()), expected, "{filter}");
    }
}

#[test]
fn a_filter_is_written_down_as_it_was() {
    let filter = parsed("a  =  {{params.n}} AND b <= {{ params.d  - 1d }}").unwrap();
    assert_eq!(filter.to_string(), "a  =  {{ params.n }} AND b <= {{ params.d - 1d }}");
}

/// Column 15 is where the condition starts.
fn refused(filter: &str) -> String {
    let job = format!(
        "name: j\nkey: [k]\nparams: {{n: {{type: integer}}}}\nsources:\n  x:\n    file: x\n    filter: {filter}\n  y: {{file: y}}\n"
    );
    Job::parse(job.as_bytes(), None).map_or_else(|faults| faults.to_string(), |_| "nothing wrong".to_owned())
}

#[test]
fn what_is_not_taken_is_refused_at_its_place() {
    const TAKEN: &str = "a filter takes comparisons, AND, OR, NOT, IN (…), BETWEEN, LIKE, IS NULL, IS TRUE, IS FALSE, + - * / %, \
                         and lower, upper, trim, length, substr, abs, round and coalesce";
    let table = [
        ("a = 1 and b ~ 'x'", "7:23: sources.x.filter: \"b ~ 'x'\" is not supported; TAKEN"),
        ("a = 1 and", "7:13: sources.x.filter: expected an expression, found its end"),
        ("a = = 1", "7:17: sources.x.filter: expected an expression, found ="),
        ("a = 1 b = 2", "7:19: sources.x.filter: expected AND, OR or the end, found \"b\""),
        ("a = 'x", "7:17: sources.x.filter: Unterminated string literal"),
        ("(a = 1", "7:13: sources.x.filter: expected ), found its end"),
        ("a + 1", "7:13: sources.x.filter: \"a + 1\" is no condition; compare it with something"),
        ("a in (select 1)", "7:13: sources.x.filter: \"a in (select 1)\" is not supported; TAKEN"),
        (
            "sqrt(a) = 2",
            "7:13: sources.x.filter: \"sqrt(a)\" is no function that is known here; expected lower, upper, trim, length, substr, abs, round, coalesce",
        ),
        (
            "lowr(a) = 'x'",
            "7:13: sources.x.filter: \"lowr(a)\" is no function that is known here; did you mean `lower`?",
        ),
        (
            "lower(a, b) = 'x'",
            "7:13: sources.x.filter: \"lower(a, b)\" has 2 in parentheses where lower takes 1",
        ),
        (
            "cast(a as int) = 1",
            "7:18: sources.x.filter: casts within a filter are not supported; the `casts` of the source say what its columns are",
        ),
        (
            "case when a then b end",
            "7:13: sources.x.filter: \"case when a then b end\" is not supported; TAKEN",
        ),
        ("a = $1", "7:17: sources.x.filter: $1 stands for nothing; a value of the job is {{ params.NAME }}"),
        (
            "t.a = 1",
            "7:13: sources.x.filter: \"t.a\" has a point in it; if that is the name of a column, write \"t.a\"",
        ),
        (
            "a = date '2026-02-30'",
            "7:22: sources.x.filter: \"2026-02-30\" is no date; expected a date such as 2026-01-31",
        ),
        ("a = {{ params.n }} + x'1F'", "7:34: sources.x.filter: \"x'1F'\" is not supported; TAKEN"),
        (
            "a = 123456789012345678901234567890123456789",
            "7:17: sources.x.filter: \"123456789012345678901234567890123456789\" has more than 38 digits",
        ),
        (
            "a like 'x' escape 'ab'",
            "7:31: sources.x.filter: \"'ab'\" cannot be behind ESCAPE; expected one character in quotes",
        ),
        (
            "a = '{{ params.n }}'",
            "7:21: sources.x.filter: `{{ params.n }}` is inside quotes or a comment; the value is bound, not pasted, so leave them out",
        ),
        (
            "a = {{ params.m }}",
            "7:20: sources.x.filter: `{{ params.m }}`: there is no parameter `m`; expected n",
        ),
        ("a = 1; drop table x", "7:18: sources.x.filter: expected AND, OR or the end, found \";\""),
        ("|\n      a = 1\n      and b ~ 2", "9:11: sources.x.filter: \"b ~ 2\" is not supported; TAKEN"),
    ];
    for (filter, expected) in table {
        assert_eq!(refused(filter), expected.replace("TAKEN", TAKEN), "{filter}");
    }
}

#[test]
fn what_is_too_deep_or_too_long_is_refused() {
    let nested = "(".repeat(10_000) + "a" + &")".repeat(10_000);
    let within = "(".repeat(60) + "a" + &")".repeat(60);
    let chain = vec!["a = 1"; 10_000].join(" or ");
    let minus = format!("{} 1 = a", "- ".repeat(400));
    let list = format!("a in ({})", vec!["1"; 100_000].join(", "));
    for (filter, expected) in [
        (
            nested.as_str(),
            "it has more than 500 words and signs beside its values; a list of values is `column IN (…)`",
        ),
        (&within, "it is nested more than 50 deep"),
        (
            &chain,
            "it has more than 500 words and signs beside its values; a list of values is `column IN (…)`",
        ),
        (&minus, "it is nested more than 50 deep"),
    ] {
        let faults = parsed(filter).unwrap_err().to_string();
        assert!(faults.ends_with(expected), "{faults}");
    }
    assert!(parsed(&list).is_ok());
    let chain = vec!["a = 1"; 120].join(" or ");
    assert!(parsed(&chain).is_ok());
}

/// Pieces that conditions are made of, in no order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "\"b c\"",
        "1",
        ".5",
        "1e9",
        "'x'",
        "''",
        "(",
        ")",
        ",",
        "=",
        "<>",
        "<",
        "+",
        "-",
        "*",
        "/",
        "%",
        "and",
        "or",
        "not",
        "in",
        "between",
        "like",
        "escape",
        "is",
        "null",
        "true",
        "date",
        "timestamp",
        "time",
        "lower(",
        "trim(",
        "substring(",
        "coalesce(",
        "case",
        "when",
        "end",
        "{{ params.n }}",
        "$1",
        "::",
        "[",
        "]",
        "--",
        "/*",
        "interval",
        "ß",
        "\n",
        ";",
        "cast(",
        "as",
        "int",
        "exists",
        "select",
        "from",
        "E'\\",
        "$$",
        "@",
        "#",
        "`",
        "?",
        ":x",
        "~",
        "||",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #[test]
    fn whatever_is_written_is_read_or_refused(filter in prop_oneof![pieces(), "\\PC{0,40}"]) {
        if let Ok(filter) = parsed(&filter) {
            let again = parsed(&filter.to_string());
            prop_assert_eq!(again.map(|again| again.condition().clone()), Ok(filter.condition().clone()));
        }
    }
}
