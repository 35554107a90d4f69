//! The report for a comment on a pull request.

use std::ops::Range;

use trueup_compare::Comparison;

use super::Report;
use super::break_table::{BreakTable, Markup};
use super::figures::{self, Figures};
use super::marking::Cut;
use super::phrases::{self, MANY};
use crate::visible::visible;

/// How many characters of a value are shown.
const VALUE: usize = 60;

/// Writes the report in GitHub's dialect.
pub(super) fn render(report: &Report<'_>) -> String {
    let comparison = report.comparison;
    let sign = if report.matched() { "✅" } else { "❌" };
    let mut text =
        format!("## {sign} {}\n\n{}\n", phrases::verdict(comparison), phrases::summary(comparison));
    let parts = [
        ("Sources", sources(report)),
        ("Keys", keys(comparison)),
        ("Compared as", compared_as(comparison)),
        ("Findings", findings(comparison)),
        ("Columns", columns(report)),
        ("Where breaks concentrate", concentrations(comparison)),
        ("Breaks", breaks(comparison)),
        ("Notes", notes(comparison)),
    ];
    for (heading, part) in parts {
        if !part.is_empty() {
            text.extend([format!("\n### {heading}\n\n{part}")]);
        }
    }
    text
}

fn table(headings: &[String], rows: &[Vec<String>]) -> String {
    let mut text = format!("| {} |\n|{}\n", headings.join(" | "), " --- |".repeat(headings.len()));
    for row in rows {
        text.extend([format!("| {} |\n", row.join(" | "))]);
    }
    text
}

fn headings(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn sources(report: &Report<'_>) -> String {
    let comparison = report.comparison;
    let rows: Vec<Vec<String>> = (comparison.sources.iter().zip(report.inputs).enumerate())
        .map(|(source, (name, input))| {
            vec![
                code(name),
                phrases::count(comparison.source_row_counts[source]),
                phrases::count(comparison.unmatched_by_source[source]),
                code(&input.path),
                code(&input.read_as),
            ]
        })
        .collect();
    table(&headings(&["source", "rows", "unmatched", "from", "read as"]), &rows)
}

fn keys(comparison: &Comparison) -> String {
    let drifts = phrases::keys_drift(comparison);
    let mut head = headings(&["source"]);
    head.extend(headings(&phrases::KEY_HEADINGS));
    head.extend(drifts.then(|| "type drift".to_owned()));
    let rows: Vec<Vec<String>> = (comparison.sources.iter().zip(&comparison.key_report))
        .map(|(name, keys)| {
            let mut row = vec![code(name)];
            row.extend(phrases::key_figures(keys));
            let drift = phrases::type_drift(keys);
            row.extend(drifts.then(|| if drift.is_empty() { drift } else { code(&drift) }));
            row
        })
        .collect();
    table(&head, &rows)
}

fn findings(comparison: &Comparison) -> String {
    let more = phrases::more(comparison.findings.len(), MANY, "finding");
    (comparison.findings.iter().take(MANY))
        .map(|finding| format!("{}: {}", code(&finding.column), code(&finding.problem)))
        .chain(more)
        .map(|line| format!("- {line}\n"))
        .collect()
}

fn notes(comparison: &Comparison) -> String {
    let notes = phrases::notes(comparison);
    let more = phrases::more(notes.len(), MANY, "note");
    notes.iter().take(MANY).map(|note| code(note)).chain(more).map(|line| format!("- {line}\n")).collect()
}

fn compared_as(comparison: &Comparison) -> String {
    let (kinds, more) = phrases::compared_as(comparison);
    (kinds.into_iter())
        .map(|(kind, columns)| {
            let columns: Vec<String> = columns.into_iter().map(code).collect();
            format!("{kind}: {}", columns.join(", "))
        })
        .chain(more)
        .map(|line| format!("- {line}\n"))
        .collect()
}

fn columns(report: &Report<'_>) -> String {
    let figures = Figures::new(report.comparison);
    let rows: Vec<Vec<String>> = (figures.shown().iter())
        .map(|measure| {
            let mut row = vec![code(&measure.name), code(&report.rule(measure))];
            row.extend(figures::counts(measure));
            row.extend(figures.totals(measure));
            row
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut head = headings(&["column", "rule"]);
    head.extend(headings(&figures::COUNT_HEADINGS));
    head.extend(figures.total_headings(code));
    table(&head, &rows) + &figures.more().map_or_else(String::new, |more| format!("\n{more}\n"))
}

fn concentrations(comparison: &Comparison) -> String {
    let found = &comparison.concentration;
    let lines: String = (found.iter().take(MANY))
        .map(|it| {
            let value = value(it.value.as_deref(), 0..0);
            format!("- {} = {value}: {}\n", code(&it.column), phrases::concentration(it))
        })
        .collect();
    lines + &more_line(found.len(), "value")
}

fn more_line(all: usize, noun: &str) -> String {
    phrases::more(all, MANY, noun).map_or_else(String::new, |more| format!("\n{more}\n"))
}

fn breaks(comparison: &Comparison) -> String {
    let markup = Markup { name: code, value, difference: str::to_owned, absent: "**absent**" };
    let Some(BreakTable { head, rows, more }) = BreakTable::new(comparison, &markup) else {
        return String::new();
    };
    table(&head, &rows) + &more.map_or_else(String::new, |more| format!("\n{more}\n"))
}

/// A value; a long one is cut so that what differs is seen.
fn value(text: Option<&str>, mark: Range<usize>) -> String {
    text.map_or_else(|| "NULL".to_owned(), |text| code(&Cut::new(text, mark, VALUE).text))
}

/// A code span, which keeps mentions, links and markup in the data from taking effect.
fn code(text: &str) -> String {
    if text.is_empty() {
        return "''".to_owned();
    }
    let text = visible(text).replace('|', "\\|");
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

#[cfg(test)]
mod tests {
    use super::super::{Format, Look, samples};
    use super::code;

    #[test]
    fn unmatched() {
        insta::assert_snapshot!(samples::unmatched(Format::Markdown, Look::PLAIN), @r#"
        ## ❌ UNMATCHED

        975 of 1,005 groups match, 5 outside a tolerance, 25 absent somewhere, 1 finding

        ### Sources

        | source | rows | unmatched | from | read as |
        | --- | --- | --- | --- | --- |
        | `ledger` | 1,000 | 5 | `ledger.csv` | `` CSV, UTF-8, `,` `"` `` |
        | `bank` | 1,005 | 20 | `bank.parquet` | `Parquet` |

        ### Keys

        | source | rows | distinct keys | repeated keys | rows with NULL in the key | type drift |
        | --- | --- | --- | --- | --- | --- |
        | `ledger` | 1,000 | 999 | 1 | 0 | `txn_id is text` |
        | `bank` | 1,005 | 1,005 | 0 | 2 | `txn_id is number` |

        ### Compared as

        - number: `amount`

        ### Findings

        - `memo`: `missing in bank`

        ### Columns

        | column | rule | within | outside | share | largest difference | total `ledger` | total `bank` |
        | --- | --- | --- | --- | --- | --- | --- | --- |
        | `amount` | `ABSOLUTE 0.01` | 975 | 5 | 0.5% | 0.03 | 12345678901234567890.12 | 12345678901234567890.27 |
        | `note` | `EXACT` | 978 | 2 | 0.2% |  |  |  |
        | `booked` | `DURATION -1d..+3d` | 980 | 0 | 0.0% |  |  |  |

        ### Where breaks concentrate

        - `ccy` = `<JPY>`: 12 of 40 rows in a break (30.0%; 1.7% overall)

        ### Breaks

        | `txn_id` | `account` | column | `ledger` | `bank` | difference |
        | --- | --- | --- | --- | --- | --- |
        | `T-1` | `DE\|01` | `amount` | `10.00` | `10.03` | 0.03 |
        | `T-1` | `DE\|01` | `note` | `… begins alike <one> and goes on & on, and ends alike as we…` | `… begins alike <two> and goes on & on, and ends alike as we…` |  |
        | `T-2` | NULL | `amount` | `7.5` | NULL |  |
        | `T-3` | `DE02` |  | **absent** | present |  |

        and 27 more breaks

        ### Notes

        - `1 key has many rows`
        - ``txn_id: text in ledger because of one value of 1000: `N/A` (ledger.csv, line 17); all others are numbers``
        "#);
    }

    #[test]
    fn wide_tables_are_capped() {
        let text = samples::wide(Format::Markdown);
        assert!(text.contains("and 80 more columns") && text.contains("and 90 more columns"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 300), "{text}");
    }

    #[test]
    fn code_spans_hold_anything() {
        let cases = [
            ("a|b", "`a\\|b`"),
            ("`x`", "`` `x` ``"),
            ("", "''"),
            ("a\nb", "`a\\nb`"),
            ("<b>@me", "`<b>@me`"),
        ];
        for (text, expected) in cases {
            assert_eq!(code(text), expected);
        }
    }
}
