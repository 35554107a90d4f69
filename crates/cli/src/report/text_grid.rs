//! Columns of text that fit a line.

use super::marking::{Cut, width};

/// Columns are never made narrower than this.
const NARROWEST: usize = 8;
const GAP: usize = 2;

/// One field of a grid.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    text: String,
    mark: std::ops::Range<usize>,
    right: bool,
}

impl Field {
    /// Text, at the left.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), mark: 0..0, right: false }
    }

    /// A number, at the right.
    pub(crate) fn number(text: impl Into<String>) -> Self {
        Self { text: text.into(), mark: 0..0, right: true }
    }

    /// Text of which a part is marked.
    pub(crate) fn marked(text: impl Into<String>, mark: std::ops::Range<usize>) -> Self {
        Self { text: text.into(), mark, right: false }
    }
}

/// How marks and headings are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marks {
    /// By escape codes.
    Colours,
    /// By a line of carets below.
    Carets,
}

/// Lays the rows out below their headings, within a width.
pub(crate) fn lines(headings: &[&str], rows: &[Vec<Field>], limit: usize, marks: Marks) -> String {
    let widths = column_widths(headings, rows, limit);
    let heading: Vec<Field> = (headings.iter().enumerate())
        .map(|(column, &heading)| Field {
            text: heading.to_owned(),
            mark: 0..0,
            right: rows.iter().all(|row| row[column].right) && !rows.is_empty(),
        })
        .collect();
    let mut text = String::new();
    push_row(&mut text, &heading, &widths, Some("2").filter(|_| marks == Marks::Colours), marks);
    for row in rows {
        push_row(&mut text, row, &widths, None, marks);
    }
    text
}

fn column_widths(headings: &[&str], rows: &[Vec<Field>], limit: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = headings.iter().map(|heading| width(heading)).collect();
    for row in rows {
        for (widest, field) in widths.iter_mut().zip(row) {
            *widest = (*widest).max(width(&field.text));
        }
    }
    let room = limit.saturating_sub(GAP * (widths.len() + 1));
    while widths.iter().sum::<usize>() > room {
        let Some(widest) =
            widths.iter_mut().max_by_key(|width| **width).filter(|widest| **widest > NARROWEST)
        else {
            break;
        };
        *widest -= 1;
    }
    widths
}

fn push_row(text: &mut String, row: &[Field], widths: &[usize], style: Option<&str>, marks: Marks) {
    let mut line = String::new();
    let mut carets = String::new();
    let mut any_mark = false;
    for (field, &column) in row.iter().zip(widths) {
        let cut = Cut::new(&field.text, field.mark.clone(), column);
        let padding = column.saturating_sub(width(&cut.text));
        let before = GAP + if field.right { padding } else { 0 };
        let after = if field.right { 0 } else { padding };
        let (head, marked, tail) = cut.parts();
        any_mark |= !marked.is_empty();
        line.push_str(&" ".repeat(before));
        line.push_str(&painted(head, style));
        let mark = Some("1;4;33").filter(|_| marks == Marks::Colours);
        line.push_str(&painted(marked, mark));
        line.push_str(&painted(tail, style));
        line.push_str(&" ".repeat(after));
        carets.push_str(&" ".repeat(before + width(head)));
        carets.push_str(&"^".repeat(width(marked)));
        carets.push_str(&" ".repeat(width(tail) + after));
    }
    text.push_str(line.trim_end());
    text.push('\n');
    if any_mark && marks == Marks::Carets {
        text.push_str(carets.trim_end());
        text.push('\n');
    }
}

/// The text in a style of the terminal.
pub(crate) fn painted(text: &str, style: Option<&str>) -> String {
    match style {
        Some(style) if !text.is_empty() => format!("\u{1b}[{style}m{text}\u{1b}[0m"),
        _ => text.to_owned(),
    }
}
