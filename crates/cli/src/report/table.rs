//! The report for a terminal: the verdict first, then what led to it.

use super::figures::{self, Figures};
use super::marking::{Cut, width};
use super::phrases::{self, MANY};
use super::text_grid::{Field, lines, painted};
use super::{Look, Report, table_breaks};
use crate::visible::visible;

/// Writes the report; plain text without colours, each part below its heading.
pub(super) fn render(report: &Report<'_>, look: Look) -> String {
    let comparison = report.comparison;
    let colour = if report.matched() { "1;32" } else { "1;31" };
    let verdict = painted(phrases::verdict(comparison), Some(colour).filter(|_| look.colour));
    let mut text = format!("{verdict}: {}\n", phrases::summary(comparison));
    let parts = [
        ("Sources", sources(report, look)),
        ("Keys", keys(report, look)),
        ("Compared as", compared_as(report, look)),
        ("Findings", findings(report)),
        ("Columns", columns(report, look)),
        ("Control totals", totals(report, look)),
        ("Where breaks concentrate", concentrations(report, look)),
        (&*table_breaks::heading(comparison), table_breaks::render(comparison, look)),
        ("Notes", notes(report)),
    ];
    for (heading, part) in parts {
        if !part.is_empty() {
            let heading = painted(heading, Some("1").filter(|_| look.colour));
            text.extend([format!("\n{heading}\n{part}")]);
        }
    }
    text
}

fn grid(headings: &[&str], rows: &[Vec<Field>], look: Look) -> String {
    lines(headings, rows, look.width, look.marks())
}

fn sources(report: &Report<'_>, look: Look) -> String {
    let comparison = report.comparison;
    let rows: Vec<Vec<Field>> = (comparison.sources.iter().zip(report.inputs).enumerate())
        .map(|(source, (name, input))| {
            vec![
                Field::name(visible(name)),
                Field::number(phrases::count(comparison.source_row_counts[source])),
                Field::number(phrases::count(comparison.unmatched_by_source[source])),
                Field::long(visible(&input.path)),
                Field::text(visible(&input.read_as)),
            ]
        })
        .collect();
    grid(&["source", "rows", "unmatched", "from", "read as"], &rows, look)
}

fn keys(report: &Report<'_>, look: Look) -> String {
    let comparison = report.comparison;
    let rows: Vec<Vec<Field>> = (comparison.sources.iter().zip(&comparison.key_report))
        .map(|(name, keys)| {
            let mut row = vec![Field::name(visible(name))];
            row.extend(phrases::key_figures(keys).map(Field::number));
            row
        })
        .collect();
    // These would be cut to fit the grid.
    let drifts = (comparison.sources.iter().zip(&comparison.key_report))
        .filter(|(_, keys)| !keys.type_drift.is_empty())
        .map(|(name, keys)| format!("type drift in {name}: {}", phrases::type_drift(keys)));
    let headings: Vec<&str> = ["source"].into_iter().chain(phrases::KEY_HEADINGS).collect();
    grid(&headings, &rows, look) + &list(drifts, None)
}

fn compared_as(report: &Report<'_>, look: Look) -> String {
    let (kinds, more) = phrases::compared_as(report.comparison);
    let mut text = String::new();
    for (kind, columns) in kinds {
        let mut line = format!("  {kind}:");
        for (position, name) in columns.iter().enumerate() {
            let comma = if position + 1 < columns.len() { "," } else { "" };
            let name = Cut::plain(&visible(name), look.width.saturating_sub(5)).text + comma;
            if width(&line) + 1 + width(&name) > look.width {
                text.extend([&line, "\n"]);
                line.replace_range(.., "   ");
            }
            line.extend([" ", &name]);
        }
        text.extend([&line, "\n"]);
    }
    text + &more.map_or_else(String::new, |more| format!("  {more}\n"))
}

fn findings(report: &Report<'_>) -> String {
    let findings: Vec<String> = report.comparison.findings.iter().map(ToString::to_string).collect();
    first_of(&findings, "finding")
}

fn notes(report: &Report<'_>) -> String {
    first_of(&phrases::notes(report.comparison), "note")
}

/// The first of some texts, a line each, and how many more there are.
pub(crate) fn first_of(texts: &[String], noun: &str) -> String {
    list(texts.iter().take(MANY).cloned(), phrases::more(texts.len(), MANY, noun))
}

fn list(items: impl Iterator<Item = String>, more: Option<String>) -> String {
    items.map(|item| visible(&item)).chain(more).map(|item| format!("  {item}\n")).collect()
}

fn columns(report: &Report<'_>, look: Look) -> String {
    let figures = Figures::new(report.comparison);
    let rows: Vec<Vec<Field>> = (figures.shown().iter())
        .map(|measure| {
            let allowed = if measure.passed && measure.outside > 0 { " (allowed)" } else { "" };
            let rule = format!("{}{allowed}", phrases::rule(measure));
            let mut row = vec![Field::name(visible(&measure.name)), Field::long(rule)];
            row.extend(figures::counts(measure).map(Field::number));
            row
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    // A long rule would be cut to fit the grid, so what it leaves open has lines of its own.
    let leeway = (figures.shown().iter())
        .map(|measure| (measure, report.rule(measure)))
        .filter(|(measure, rule)| *rule != phrases::rule(measure))
        .map(|(measure, rule)| format!("{}: {rule}", measure.name));
    let headings: Vec<&str> = ["column", "rule"].into_iter().chain(figures::COUNT_HEADINGS).collect();
    grid(&headings, &rows, look) + &list(leeway, figures.more())
}

/// Apart from the counts, so that no digit has to be cut.
fn totals(report: &Report<'_>, look: Look) -> String {
    let figures = Figures::new(report.comparison);
    let summed = figures.shown().iter().filter(|measure| measure.totals.is_some());
    let rows: Vec<Vec<Field>> = summed
        .map(|measure| {
            let totals = figures.totals(measure).into_iter().map(Field::number);
            [Field::name(visible(&measure.name))].into_iter().chain(totals).collect()
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let sources: Vec<String> = report.comparison.sources.iter().map(|source| visible(source)).collect();
    let headings: Vec<&str> = ["column"].into_iter().chain(sources.iter().map(String::as_str)).collect();
    grid(&headings, &rows, look)
}

fn concentrations(report: &Report<'_>, look: Look) -> String {
    let found = &report.comparison.concentration;
    if found.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<Field>> = (found.iter().take(MANY))
        .map(|it| {
            let value = visible(phrases::or_null(it.value.as_deref()));
            vec![
                Field::name(visible(&it.column)),
                Field::name(value),
                Field::text(phrases::concentration(it)),
            ]
        })
        .collect();
    let more = phrases::more(found.len(), MANY, "value").map(|more| format!("  {more}\n"));
    grid(&["column", "value", "rows in breaks"], &rows, look) + &more.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::marking::width;
    use super::super::{Format, Look, samples};

    #[test]
    fn unmatched_in_a_pipe() {
        insta::assert_snapshot!(samples::unmatched(Format::Table, Look::PLAIN), @r#"
        UNMATCHED: 975 of 1,005 groups match, 5 outside a tolerance, 25 absent somewhere, 1 finding

        Sources
          source   rows  unmatched  from          read as
          ledger  1,000          5  ledger.csv    CSV, UTF-8, `,` `"`
          bank    1,005         20  bank.parquet  Parquet

        Keys
          source   rows  distinct keys  repeated keys  rows with NULL in the key
          ledger  1,000            999              1                          0
          bank    1,005          1,005              0                          2
          type drift in ledger: txn_id is text
          type drift in bank: txn_id is number

        Compared as
          number: amount

        Findings
          memo: missing in bank

        Columns
          column  rule               within  outside  share  largest difference
          amount  ABSOLUTE 0.01         975        5   0.5%                0.03
          note    EXACT                 978        2   0.2%
          booked  DURATION -1d..+3d     980        0   0.0%

        Control totals
          column                   ledger                     bank
          amount  12345678901234567890.12  12345678901234567890.27

        Where breaks concentrate
          column  value  rows in breaks
          ccy     <JPY>  12 of 40 rows in a break (30.0%; 1.7% overall)

        Breaks (the first 3 of 30)
          txn_id  account  column   ledger                                  bank                                    difference
          T-1     DE|01    amount   10.00                                   10.03                                   0.03
                                        ^                                       ^
          T-1     DE|01    note     …s alike <one> and goes on & on, and …  …s alike <two> and goes on & on, and …
                                              ^^^                                     ^^^
          T-2     NULL     amount   7.5                                     NULL
          T-3     DE02     (group)  absent                                  present

        Notes
          1 key has many rows
          txn_id: text in ledger because of one value of 1000: `N/A` (ledger.csv, line 17); all others are numbers
        "#);
    }

    #[test]
    fn unmatched_on_a_narrow_terminal() {
        insta::assert_snapshot!(samples::unmatched(Format::Table, Look { width: 60, colour: false }), @r#"
        UNMATCHED: 975 of 1,005 groups match, 5 outside a tolerance, 25 absent somewhere, 1 finding

        Sources
          source       ledger
            rows       1,000
            unmatched  5
            from       ledger.csv
            read as    CSV, UTF-8, `,` `"`
          source       bank
            rows       1,005
            unmatched  20
            from       bank.parquet
            read as    Parquet

        Keys
          source   rows  distinct keys      repeated     rows with
                                                keys   NULL in the
                                                               key
          ledger  1,000            999             1             0
          bank    1,005          1,005             0             2
          type drift in ledger: txn_id is text
          type drift in bank: txn_id is number

        Compared as
          number: amount

        Findings
          memo: missing in bank

        Columns
          column  rule          within  outside  share     largest
                                                        difference
          amount  ABSOLU… 0.01     975        5   0.5%        0.03
          note    EXACT            978        2   0.2%
          booked  DURATI…..+3d     980        0   0.0%

        Control totals
          column                   ledger                     bank
          amount  12345678901234567890.12  12345678901234567890.27

        Where breaks concentrate
          column            ccy
          value             <JPY>
            rows in breaks  12 of 40 rows in a break (30.0%; 1.7%
                            overall)

        Breaks (the first 3 of 30)
          txn_id        T-1
          account       DE|01
          column        amount
            ledger      10.00
                            ^
            bank        10.03
                            ^
            difference  0.03
          txn_id        T-1
          account       DE|01
          column        note
            ledger      …ins alike <one> and goes on & on, and ends…
                                    ^^^
            bank        …ins alike <two> and goes on & on, and ends…
                                    ^^^
          txn_id        T-2
          account       NULL
          column        amount
            ledger      7.5
            bank        NULL
          txn_id        T-3
          account       DE02
          column        (group)
            ledger      absent
            bank        present

        Notes
          1 key has many rows
          txn_id: text in ledger because of one value of 1000: `N/A` (ledger.csv, line 17); all others are numbers
        "#);
    }

    #[test]
    fn any_number_of_sources_fits_any_terminal_with_keys_and_dialects_whole() {
        for (sources, limit) in [2, 3, 5].into_iter().flat_map(|n| [60, 80, 100, 200].map(|limit| (n, limit)))
        {
            let text = samples::several(sources, Look { width: limit, colour: false });
            let wide = text.lines().skip(1).find(|line| width(line) > limit);
            assert_eq!(wide, None, "{sources} sources, {limit} columns:\n{text}");
            let whole = samples::UNCUT.iter().all(|part| text.contains(part));
            assert!(whole, "{sources} sources, {limit} columns:\n{text}");
        }
    }

    #[test]
    fn matched() {
        insta::assert_snapshot!(samples::matched(Format::Table), @r#"
        MATCHED: 1,000 of 1,000 groups match

        Sources
          source   rows  unmatched  from          read as
          ledger  1,000          0  ledger.csv    CSV, UTF-8, `,` `"`
          bank    1,000          0  bank.parquet  Parquet

        Keys
          source   rows  distinct keys  repeated keys  rows with NULL in the key
          ledger  1,000          1,000              0                          0
          bank    1,000          1,000              0                          0

        Columns
          column  rule   within  outside  share  largest difference
          amount  EXACT   1,000        0   0.0%
        "#);
    }

    #[test]
    fn colours_only_when_asked() {
        let look = Look { width: 100, colour: true };
        let coloured = samples::unmatched(Format::Table, look);
        assert!(coloured.starts_with("\u{1b}[1;31mUNMATCHED\u{1b}[0m: "));
        assert!(coloured.contains("10.0\u{1b}[1;4;33m3\u{1b}[0m"), "{coloured}");
        assert!(!coloured.contains('^'));
    }

    #[test]
    fn wide_tables_are_capped() {
        let text = samples::wide(Format::Table);
        assert!(text.contains("and 80 more columns"), "{text}");
        assert!(text.contains("and 90 more columns"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 120));
    }
}
