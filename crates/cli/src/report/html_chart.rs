//! The charts of the HTML report, as inline SVG that a screen reader can read out.

use trueup_compare::Comparison;

use super::figures::Figures;
use super::html::escaped;
use super::phrases::{self, MANY};
use crate::visible::visible;

/// About as wide as a phone, so that text is hardly scaled there.
const WIDTH: f64 = 400.0;
const LABEL: f64 = 155.0;
const LABEL_CHARACTERS: usize = 18;
const ROW: usize = 26;

/// One bar: matched, outside, absent somewhere.
pub(super) fn groups(comparison: &Comparison) -> String {
    let parts = [
        ("good", "matched", comparison.rows_matched),
        ("bad", "outside", phrases::outside_groups(comparison)),
        ("absent", "absent somewhere", phrases::absent_groups(comparison)),
    ];
    let mut bars = String::new();
    let mut legend = String::new();
    let mut left = 0.0;
    for (position, (class, name, groups)) in parts.into_iter().enumerate() {
        let width = share(groups, comparison.rows_compared) * WIDTH;
        bars.push_str(&bar(class, left, 0, width));
        left += width;
        let top = 32 + position * 20;
        legend.extend([format!(
            "<rect class=\"{class}\" x=\"0\" y=\"{top}\" width=\"12\" height=\"12\"/>\
             <text x=\"18\" y=\"{}\">{} {name}</text>",
            top + 11,
            phrases::count(groups)
        )]);
    }
    svg(&phrases::summary(comparison), 92, &(track(0.0, 0, WIDTH) + &bars + &legend))
}

/// One bar per column with breaks, as long as its share of groups outside.
pub(super) fn columns(comparison: &Comparison) -> String {
    let figures = Figures::new(comparison);
    let most = figures.shown().first().map_or(0, |measure| measure.outside);
    let rows: Vec<Row> = (figures.shown().iter().filter(|measure| measure.outside > 0))
        .map(|measure| Row {
            name: measure.name.clone(),
            length: share(measure.outside, most),
            tick: None,
            text: phrases::count(measure.outside),
        })
        .collect();
    chart("Groups outside by column", &rows)
}

/// One bar per value, as long as the share of its rows in breaks, with a line at the share of all rows.
pub(super) fn concentration(comparison: &Comparison) -> String {
    let rows: Vec<Row> = (comparison.concentration.iter().take(MANY))
        .map(|found| Row {
            name: format!("{} = {}", found.column, phrases::or_null(found.value.as_deref())),
            length: share(found.broken_rows, found.rows),
            tick: Some(share(found.all_broken_rows, found.all_rows)),
            text: phrases::percent(found.broken_rows, found.rows),
        })
        .collect();
    let chart = chart("Share of rows in breaks by value", &rows);
    let lines: String = (comparison.concentration.iter().take(MANY))
        .map(|found| {
            let value = phrases::or_null(found.value.as_deref());
            format!(
                "<li>{}</li>\n",
                escaped(&format!("{} = {value}: {}", found.column, phrases::concentration(found)))
            )
        })
        .collect();
    if lines.is_empty() { chart } else { format!("{chart}<ul>\n{lines}</ul>\n") }
}

struct Row {
    name: String,
    /// Between 0 and 1.
    length: f64,
    tick: Option<f64>,
    text: String,
}

fn chart(label: &str, rows: &[Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let room = WIDTH - LABEL - 65.0;
    let body: String = (rows.iter().enumerate())
        .map(|(position, row)| {
            let top = position * ROW;
            let name = escaped(&super::marking::Cut::plain(&visible(&row.name), LABEL_CHARACTERS).text);
            let tick = row.tick.map_or_else(String::new, |tick| {
                let x = LABEL + tick * room;
                format!("<rect class=\"absent\" x=\"{x:.1}\" y=\"{top}\" width=\"2\" height=\"22\"/>")
            });
            format!(
                "<text x=\"0\" y=\"{}\">{name}</text>{}{}{tick}<text x=\"{:.1}\" y=\"{0}\">{}</text>\n",
                top + 16,
                track(LABEL, top, room),
                bar("bad", LABEL, top, (row.length * room).max(1.0)),
                WIDTH - 58.0,
                escaped(&row.text)
            )
        })
        .collect();
    svg(label, rows.len() * ROW, &body)
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn track(left: f64, top: usize, width: f64) -> String {
    bar("track", left, top, width)
}

fn bar(class: &str, left: f64, top: usize, width: f64) -> String {
    format!("<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"22\"/>")
}

fn svg(label: &str, height: usize, body: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">\n{body}\n</svg>\n",
        escaped(label)
    )
}
