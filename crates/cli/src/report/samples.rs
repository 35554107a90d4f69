//! Comparisons for the tests of reports.

use trueup_compare::{
    Break, Cell, ColumnReport, Comparison, Concentration, Finding, KeyReport, Kind, MeasureReport, Outside,
    Role, RuleType, Spec, TypeDrift, Verdict,
};

use super::{Format, Input, Look, Report};

/// A ledger against a bank with a bit of everything.
pub(super) fn unmatched(format: Format, look: Look) -> String {
    rendered(&ledger_against_bank(), format, look)
}

/// Two sources that agree.
pub(super) fn matched(format: Format) -> String {
    let comparison = Comparison {
        verdict: Verdict::Matched,
        rows_compared: 1000,
        rows_matched: 1000,
        rows_unmatched: 0,
        matched_groups: 1000,
        source_row_counts: vec![1000, 1000],
        unmatched_by_source: vec![0, 0],
        measures: vec![measure("amount", RuleType::Exact, None, [1000, 0])],
        key_report: vec![keys(1000, 0, 0), keys(1000, 0, 0)],
        columns: Vec::new(),
        findings: Vec::new(),
        notes: Vec::new(),
        concentration: Vec::new(),
        breaks: Vec::new(),
        ..ledger_against_bank()
    };
    rendered(&comparison, format, Look::PLAIN)
}

/// A hundred columns, all of them outside in one break.
pub(super) fn wide(format: Format) -> String {
    let measures: Vec<MeasureReport> = (0..100)
        .map(|column| measure(&format!("column_{column}"), RuleType::Exact, None, [900, 80]))
        .collect();
    let columns = (0..100)
        .map(|number| {
            column(&format!("column_{number}"), Role::Compared, Some(Kind::Text), &["text"; 2], &[])
        })
        .collect();
    let found = Break {
        key: vec![Some("T-1 ".repeat(1000)), None],
        occurrence: 1,
        present: vec![true, true],
        has_key: vec![true, true],
        cells: vec![outside([Some(&"a".repeat(1000)), Some(&"b".repeat(1000))], None); 100],
    };
    rendered(
        &Comparison { measures, columns, breaks: vec![found], ..ledger_against_bank() },
        format,
        Look::PLAIN,
    )
}

/// A part of a key and how a file was read: what of [`several`] is never cut.
pub(super) const UNCUT: [&str; 2] =
    ["東京支店/2026-01-31/KD-000123456789", "CSV, UTF-16LE, `;` `'`, no header"];

/// As many sources as asked for, from afar, with a break in which all differ.
pub(super) fn several(sources: usize, look: Look) -> String {
    let name = |number: usize| format!("支店 {number}");
    let value = |number: usize| Some(Some(format!("お振込 🎉 {} of {number} and more", "x".repeat(40))));
    let cell =
        Cell { values: (0..sources).map(value).collect(), outside: breaks()[0].cells[2].outside.clone() };
    let found = Break {
        key: vec![text(UNCUT[0]), text("A-1")],
        occurrence: 1,
        present: vec![true; sources],
        has_key: vec![true; sources],
        cells: vec![cell],
    };
    let comparison = Comparison {
        sources: (0..sources).map(name).collect(),
        source_row_counts: vec![1_000_000; sources],
        unmatched_by_source: vec![1; sources],
        measures: vec![MeasureReport {
            totals: Some(vec![text("12345678.90"); sources]),
            ..measure("memo", RuleType::Exact, None, [999, 1])
        }],
        key_report: vec![keys(1_000_000, 1, 0); sources],
        columns: Vec::new(),
        findings: Vec::new(),
        notes: Vec::new(),
        breaks: vec![found],
        ..ledger_against_bank()
    };
    let path = |number| format!("/srv/exports/{}/source_{number}.csv", "2026/01/31/".repeat(8));
    let input = |number| Input { path: path(number), read_as: UNCUT[1].to_owned() };
    let inputs: Vec<Input> = (0..sources).map(input).collect();
    Report { comparison: &comparison, spec: &Spec::default(), inputs: &inputs }.render(Format::Table, look)
}

fn rendered(comparison: &Comparison, format: Format, look: Look) -> String {
    let input = |path: &str, read_as: &str| Input { path: path.to_owned(), read_as: read_as.to_owned() };
    let inputs = [input("ledger.csv", "CSV, UTF-8, `,` `\"`"), input("bank.parquet", "Parquet")];
    Report { comparison, spec: &Spec::default(), inputs: &inputs }.render(format, look)
}

fn ledger_against_bank() -> Comparison {
    Comparison {
        sources: names(&["ledger", "bank"]),
        key: names(&["txn_id", "account"]),
        verdict: Verdict::Unmatched,
        source_row_counts: vec![1000, 1005],
        matched_groups: 980,
        unmatched_by_source: vec![5, 20],
        rows_compared: 1005,
        rows_matched: 975,
        rows_unmatched: 30,
        measures: vec![
            measure("amount", RuleType::Absolute, Some("0.01"), [975, 5]),
            measure("booked", RuleType::Duration, Some("-1d..+3d"), [980, 0]),
            measure("note", RuleType::Exact, None, [978, 2]),
        ],
        key_report: vec![
            KeyReport { type_drift: drift("txn_id", Kind::Text), ..keys(1000, 1, 0) },
            KeyReport { type_drift: drift("txn_id", Kind::Number), ..keys(1005, 0, 2) },
        ],
        columns: vec![
            column(
                "txn_id",
                Role::Key,
                Some(Kind::Text),
                &["text", "Utf8"],
                &[
                    "text in ledger because of one value of 1000: `N/A` (ledger.csv, line 17); all others are numbers",
                ],
            ),
            column("amount", Role::Compared, Some(Kind::Number), &["text: number", "Decimal128(18, 2)"], &[]),
            column("memo", Role::Missing, None, &["text"], &[]),
        ],
        notes: vec!["1 key has many rows".to_owned()],
        findings: vec![Finding { column: "memo".to_owned(), problem: "missing in bank".to_owned() }],
        concentration: vec![Concentration {
            column: "ccy".to_owned(),
            value: Some("<JPY>".to_owned()),
            rows: 40,
            broken_rows: 12,
            all_rows: 2005,
            all_broken_rows: 35,
        }],
        breaks: breaks(),
    }
}

fn breaks() -> Vec<Break> {
    let long = |middle: &str| {
        format!("a long note that begins alike {middle} and goes on & on, and ends alike as well")
    };
    vec![
        Break {
            key: vec![text("T-1"), text("DE|01")],
            occurrence: 1,
            present: vec![true, true],
            has_key: vec![true, true],
            cells: vec![
                outside([Some("10.00"), Some("10.03")], Some("0.03")),
                within(["2026-01-31", "2026-01-31"]),
                outside([Some(&long("<one>")), Some(&long("<two>"))], None),
            ],
        },
        Break {
            key: vec![text("T-2"), None],
            occurrence: 1,
            present: vec![true, true],
            has_key: vec![true, true],
            cells: vec![
                outside([Some("7.5"), None], None),
                within(["2026-01-31", "2026-01-31"]),
                within(["line\nbreak", "line\nbreak"]),
            ],
        },
        Break {
            key: vec![text("T-3"), text("DE02")],
            occurrence: 1,
            present: vec![false, true],
            has_key: vec![false, true],
            cells: ["1", "2026-02-01", ""]
                .map(|value| Cell { values: vec![None, Some(text(value))], outside: None })
                .into(),
        },
    ]
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "a value that is not NULL, where one may be")]
fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn outside(values: [Option<&str>; 2], difference: Option<&str>) -> Cell {
    let values = values.map(|value| Some(value.map(str::to_owned))).into();
    Cell { values, outside: Some(Outside { pair: (0, 1), difference: difference.map(str::to_owned) }) }
}

fn within(values: [&str; 2]) -> Cell {
    Cell { values: values.map(|value| Some(text(value))).into(), outside: None }
}

fn measure(
    name: &str,
    rule_type: RuleType,
    value: Option<&str>,
    [within, outside]: [u64; 2],
) -> MeasureReport {
    let is_number = rule_type == RuleType::Absolute;
    MeasureReport {
        name: name.to_owned(),
        tolerance_type: rule_type,
        tolerance_value: value.map(str::to_owned),
        within,
        outside,
        passed: outside == 0,
        largest_difference: (is_number && outside > 0).then(|| "0.03".to_owned()),
        totals: is_number.then(|| vec![text("12345678901234567890.12"), text("12345678901234567890.27")]),
    }
}

fn keys(rows: u64, duplicated_keys: u64, null_keys: u64) -> KeyReport {
    let distinct_keys = rows - duplicated_keys;
    KeyReport { rows, distinct_keys, duplicated_keys, null_keys, type_drift: Vec::new() }
}

fn drift(column: &str, kind: Kind) -> Vec<TypeDrift> {
    vec![TypeDrift { column: column.to_owned(), kind }]
}

fn column(name: &str, role: Role, compared_as: Option<Kind>, types: &[&str], notes: &[&str]) -> ColumnReport {
    let mut types: Vec<Option<String>> = types.iter().map(|&it| text(it)).collect();
    types.resize(2, None);
    ColumnReport { name: name.to_owned(), role, compared_as, types, notes: names(notes) }
}
