//! Columns of text that fit a line.

use super::marking::{Cut, width};

/// Columns of long text are not made narrower than this.
const NARROWEST: usize = 12;
const GAP: usize = 2;

/// One field of a grid.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    text: String,
    mark: std::ops::Range<usize>,
    kind: Kind,
    is_heading: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Name,
    Text,
    Number,
    Long,
}

impl Field {
    /// What the row is about, such as a part of a key.
    pub(crate) fn name(text: impl Into<String>) -> Self {
        Self::of(Kind::Name, text)
    }

    /// Text, at the left.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::of(Kind::Text, text)
    }

    /// A number, at the right.
    pub(crate) fn number(text: impl Into<String>) -> Self {
        Self::of(Kind::Number, text)
    }

    /// Text that may be cut, such as a path.
    pub(crate) fn long(text: impl Into<String>) -> Self {
        Self::of(Kind::Long, text)
    }

    /// Text that may be cut, but for the part that is marked.
    pub(crate) fn marked(text: impl Into<String>, mark: std::ops::Range<usize>) -> Self {
        Self { mark, ..Self::long(text) }
    }

    fn of(kind: Kind, text: impl Into<String>) -> Self {
        Self { text: text.into(), mark: 0..0, kind, is_heading: false }
    }

    fn heading(self) -> Self {
        Self { is_heading: true, ..self }
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

/// Lays the rows out below their headings, within a width; where they do not fit even with long text cut, each field has a line.
pub(crate) fn lines(headings: &[&str], rows: &[Vec<Field>], limit: usize, marks: Marks) -> String {
    let Some(widths) = column_widths(headings, rows, limit) else {
        return stacked(headings, rows, limit, marks);
    };
    let mut text = String::new();
    let wrapped: Vec<Vec<String>> =
        headings.iter().zip(&widths).map(|(heading, &width)| wrapped(heading, width)).collect();
    for line in 0..wrapped.iter().map(Vec::len).max().unwrap_or_default() {
        let heading = |(column, words): (usize, &Vec<String>)| {
            let is_number = rows.iter().all(|row| row[column].kind == Kind::Number) && !rows.is_empty();
            let words = words.get(line).cloned().unwrap_or_default();
            Field::of(if is_number { Kind::Number } else { Kind::Text }, words).heading()
        };
        let heading: Vec<Field> = wrapped.iter().enumerate().map(heading).collect();
        push_row(&mut text, &heading, &widths, marks);
    }
    for row in rows {
        push_row(&mut text, row, &widths, marks);
    }
    text
}

/// How wide the columns are so that all fit; none if they cannot, for only long text is ever cut here.
fn column_widths(headings: &[&str], rows: &[Vec<Field>], limit: usize) -> Option<Vec<usize>> {
    let room = limit.saturating_sub(GAP * (headings.len() + 1));
    let is_long =
        |column: usize| rows.iter().any(|row| row[column].kind == Kind::Long && !row[column].text.is_empty());
    let content = |column: usize| rows.iter().map(|row| width(&row[column].text)).max().unwrap_or_default();
    let least = |(column, heading): (usize, &&str)| {
        let content = content(column);
        let words = heading.split(' ').map(width).max().unwrap_or_default();
        words.max(if is_long(column) { content.min(NARROWEST) } else { content })
    };
    let least: Vec<usize> = headings.iter().enumerate().map(least).collect();
    if least.iter().sum::<usize>() > room {
        return None;
    }
    let natural = |(column, heading): (usize, &&str)| content(column).max(width(heading));
    let mut widths: Vec<usize> = headings.iter().enumerate().map(natural).collect();
    while widths.iter().sum::<usize>() > room {
        // Nothing is lost where a heading takes another line, so long text comes after.
        let widest = (0..widths.len())
            .filter(|&column| widths[column] > least[column])
            .max_by_key(|&column| (!is_long(column), widths[column]))?;
        widths[widest] -= 1;
    }
    Some(widths)
}

/// The words in lines of a width.
fn wrapped(words: &str, limit: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= limit => line.extend([" ", word]),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A line for each field that is not empty, those after the names of a row set off.
fn stacked(headings: &[&str], rows: &[Vec<Field>], limit: usize, marks: Marks) -> String {
    let mut text = String::new();
    for row in rows {
        let last_name = row.iter().rposition(|field| field.kind == Kind::Name);
        let indent = |column| if Some(column) > last_name { GAP } else { 0 };
        let label = |(column, heading): (usize, &&str)| " ".repeat(indent(column)) + heading;
        let labels: Vec<String> = headings.iter().enumerate().map(label).collect();
        let label_width = labels.iter().map(|label| width(label)).max().unwrap_or_default().min(limit / 3);
        for (field, label) in row.iter().zip(labels).filter(|(field, _)| !field.text.is_empty()) {
            let room = limit.saturating_sub(label_width + 2 * GAP);
            let mut label = Field::text(label).heading();
            let parts = match field.kind {
                Kind::Text => wrapped(&field.text, room).into_iter().map(Field::text).collect(),
                _ => vec![field.clone()],
            };
            for part in parts {
                let widths = [label_width, width(&part.text).min(room)];
                push_row(&mut text, &[label, part], &widths, marks);
                label = Field::text("");
            }
        }
    }
    text
}

fn push_row(text: &mut String, row: &[Field], widths: &[usize], marks: Marks) {
    let mut line = String::new();
    let mut carets = String::new();
    let mut any_mark = false;
    for (field, &column) in row.iter().zip(widths) {
        let cut = Cut::new(&field.text, field.mark.clone(), column);
        let padding = column.saturating_sub(width(&cut.text));
        let is_number = field.kind == Kind::Number;
        let before = GAP + if is_number { padding } else { 0 };
        let after = if is_number { 0 } else { padding };
        let (head, marked, tail) = cut.parts();
        any_mark |= !marked.is_empty();
        let style = Some("2").filter(|_| field.is_heading && marks == Marks::Colours);
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
