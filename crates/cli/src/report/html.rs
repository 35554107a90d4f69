//! The report as one HTML file that needs no scripts, no network and no wide screen.

use std::ops::Range;

use trueup_compare::{Comparison, MeasureReport};

use super::break_table::{BreakTable, Markup};
use super::figures::{self, Figures};
use super::phrases::{self, MANY};
use super::{Report, html_chart, marking};
use crate::visible::visible;

const STYLE: &str = include_str!("html.css");

/// Writes the page.
pub(super) fn render(report: &Report<'_>) -> String {
    let comparison = report.comparison;
    let class = if report.matched() { "matched" } else { "unmatched" };
    let verdict = phrases::verdict(comparison);
    let title = escaped(&format!("{verdict}: {}", comparison.sources.join(" against ")));
    let sections: String = [
        section("Groups", html_chart::groups(comparison)),
        section("Sources", sources(report)),
        section("Keys", keys(comparison)),
        section("Compared as", compared_as(comparison)),
        section("Findings", findings(comparison)),
        section("Columns", html_chart::columns(comparison) + &columns(report)),
        section("Where breaks concentrate", html_chart::concentration(comparison)),
        section("Breaks", breaks(comparison)),
        section("Notes", list(&phrases::notes(comparison), "note")),
    ]
    .concat();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n<main>\n<h1 class=\"{class}\">{verdict}</h1>\n<p>{}</p>\n{sections}</main>\n</body>\n</html>\n",
        escaped(&phrases::summary(comparison))
    )
}

fn section(heading: &str, body: String) -> String {
    if body.is_empty() {
        return body;
    }
    format!("<section>\n<h2>{heading}</h2>\n{body}</section>\n")
}

/// A table that scrolls sideways by itself, also from the keyboard; cells are markup already, and some columns numbers.
fn table(label: &str, headings: &[String], numbers: Range<usize>, rows: &[Vec<String>]) -> String {
    let class = |column: usize| if numbers.contains(&column) { " class=\"number\"" } else { "" };
    let head: String = (headings.iter().enumerate())
        .map(|(column, heading)| format!("<th scope=\"col\"{}>{heading}</th>", class(column)))
        .collect();
    let body: String = (rows.iter())
        .map(|row| {
            let cells = row.iter().enumerate();
            let cells: String =
                cells.map(|(column, cell)| format!("<td{}>{cell}</td>", class(column))).collect();
            format!("<tr>{cells}</tr>\n")
        })
        .collect();
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{label}\" tabindex=\"0\">\n<table>\n\
         <thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n</div>\n"
    )
}

fn headings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| escaped(name)).collect()
}

fn sources(report: &Report<'_>) -> String {
    let comparison = report.comparison;
    let rows: Vec<Vec<String>> = (comparison.sources.iter().zip(report.inputs).enumerate())
        .map(|(source, (name, input))| {
            vec![
                escaped(name),
                phrases::count(comparison.source_row_counts[source]),
                phrases::count(comparison.unmatched_by_source[source]),
                escaped(&input.path),
                escaped(&input.read_as),
            ]
        })
        .collect();
    table("Sources", &headings(&["source", "rows", "unmatched", "from", "read as"]), 1..3, &rows)
}

fn keys(comparison: &Comparison) -> String {
    let drifts = phrases::keys_drift(comparison);
    let mut head = headings(&["source"]);
    head.extend(headings(&phrases::KEY_HEADINGS));
    let numbers = 1..head.len();
    head.extend(drifts.then(|| "type drift".to_owned()));
    let rows: Vec<Vec<String>> = (comparison.sources.iter().zip(&comparison.key_report))
        .map(|(name, keys)| {
            let mut row = vec![escaped(name)];
            row.extend(phrases::key_figures(keys));
            row.extend(drifts.then(|| escaped(&phrases::type_drift(keys))));
            row
        })
        .collect();
    table("Keys", &head, numbers, &rows)
}

fn findings(comparison: &Comparison) -> String {
    let findings: Vec<String> = comparison.findings.iter().map(ToString::to_string).collect();
    list(&findings, "finding")
}

fn list(items: &[String], noun: &str) -> String {
    if items.is_empty() {
        return String::new();
    }
    let more = phrases::more(items.len(), MANY, noun);
    let items: String = (items.iter().take(MANY).chain(more.iter()))
        .map(|item| format!("<li>{}</li>\n", escaped(item)))
        .collect();
    format!("<ul>\n{items}</ul>\n")
}

fn compared_as(comparison: &Comparison) -> String {
    let (kinds, more) = phrases::compared_as(comparison);
    let lines = kinds.into_iter().map(|(kind, columns)| format!("{kind}: {}", columns.join(", ")));
    list(&lines.chain(more).collect::<Vec<String>>(), "kind")
}

/// The first columns, and the others behind a line that unfolds them.
fn columns(report: &Report<'_>) -> String {
    let figures = Figures::new(report.comparison);
    if figures.shown().is_empty() {
        return String::new();
    }
    let mut head = headings(&["column", "rule"]);
    head.extend(headings(&figures::COUNT_HEADINGS));
    head.extend(figures.total_headings(escaped));
    let listed = |label: &str, measures: &[&MeasureReport]| {
        let rows: Vec<Vec<String>> = (measures.iter())
            .map(|measure| {
                let mut row = vec![escaped(&measure.name), escaped(&report.rule(measure))];
                row.extend(figures::counts(measure).iter().map(|count| escaped(count)));
                row.extend(figures.totals(measure).iter().map(|total| escaped(total)));
                row
            })
            .collect();
        table(label, &head, 2..head.len(), &rows)
    };
    let rest = figures.more().map(|more| {
        let rest = listed("More columns", figures.rest());
        format!("<details>\n<summary>{more}</summary>\n{rest}</details>\n")
    });
    listed("Columns", figures.shown()) + &rest.unwrap_or_default()
}

fn breaks(comparison: &Comparison) -> String {
    let markup = Markup { name: escaped, value, difference: escaped, absent: "<strong>absent</strong>" };
    let Some(BreakTable { head, rows, more }) = BreakTable::new(comparison, &markup) else {
        return String::new();
    };
    table("Breaks", &head, head.len() - 1..head.len(), &rows)
        + &more.map_or_else(String::new, |more| format!("<p>{more}</p>\n"))
}

fn value(text: Option<&str>, mark: Range<usize>) -> String {
    let Some(text) = text else {
        return "<i>NULL</i>".to_owned();
    };
    let text = if text.is_empty() { "''" } else { text };
    let cut = marking::Cut::new(text, mark, 200);
    let (before, marked, after) = cut.parts();
    let marked = if marked.is_empty() { String::new() } else { format!("<mark>{}</mark>", escaped(marked)) };
    format!("<code>{}{marked}{}</code>", escaped(before), escaped(after))
}

/// Text for an element or a quoted attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::super::{Format, Look, samples};

    #[test]
    fn values_are_escaped_and_marked() {
        let html = samples::unmatched(Format::Html, Look::PLAIN);
        assert!(html.contains("<code>10.0<mark>3</mark></code>"), "{html}");
        assert!(html.contains("&lt;<mark>one</mark>&gt;"), "{html}");
        assert!(html.contains("&lt;JPY&gt;") && !html.contains("<JPY>"));
        assert!(!html.contains("<script") && !html.contains("http"));
    }

    #[test]
    fn every_element_is_closed() {
        let wide = samples::wide(Format::Html);
        assert!(wide.contains("<details>\n<summary>and 80 more columns, 80 with breaks</summary>"), "{wide}");
        for html in [samples::unmatched(Format::Html, Look::PLAIN), samples::matched(Format::Html), wide] {
            let mut open: Vec<&str> = Vec::new();
            for tag in html.split('<').skip(1).filter_map(|piece| piece.split('>').next()) {
                let name = tag.split([' ', '\n']).next().unwrap();
                if let Some(name) = name.strip_prefix('/') {
                    assert_eq!(open.pop(), Some(name), "{tag}");
                } else if !matches!(name, "!doctype" | "meta") && !tag.ends_with('/') {
                    open.push(name);
                }
            }
            assert!(open.is_empty(), "{open:?}");
        }
    }
}
