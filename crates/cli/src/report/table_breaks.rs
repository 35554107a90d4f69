//! The first breaks, side by side, with the part that differs marked.

use trueup_compare::{Break, Cell, Comparison};

use super::Look;
use super::marking::differing;
use super::phrases;
use super::text_grid::{Field, lines};
use crate::visible::visible;

/// `Breaks`, and how many of them are shown.
pub(super) fn heading(comparison: &Comparison) -> String {
    let shown = comparison.breaks.len() as u64;
    if shown < comparison.rows_unmatched {
        return format!(
            "Breaks (the first {} of {})",
            phrases::count(shown),
            phrases::count(comparison.rows_unmatched)
        );
    }
    "Breaks".to_owned()
}

/// One line per measure that is outside, one per group that is absent somewhere.
pub(super) fn render(comparison: &Comparison, look: Look) -> String {
    let rows: Vec<Vec<Field>> =
        comparison.breaks.iter().flat_map(|found| break_rows(comparison, found)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let names: Vec<String> =
        comparison.key.iter().chain(&comparison.sources).map(|name| visible(name)).collect();
    let (key, sources) = names.split_at(comparison.key.len());
    let headings: Vec<&str> = (key.iter().map(String::as_str))
        .chain(phrases::keys_recur(comparison).then_some("occurrence"))
        .chain(["column"])
        .chain(sources.iter().map(String::as_str))
        .chain(["difference"])
        .collect();
    lines(&headings, &rows, look.width, look.marks())
}

fn break_rows(comparison: &Comparison, found: &Break) -> Vec<Vec<Field>> {
    let recur = phrases::keys_recur(comparison);
    let key = || {
        let parts = found.key.iter().map(|part| Field::name(visible(phrases::or_null(part.as_deref()))));
        parts.chain(recur.then(|| Field::number(phrases::count(found.occurrence))))
    };
    if !found.is_outside() {
        let presence = phrases::presence(found, "absent").map(Field::text);
        let row = key().chain([Field::name("(group)")]).chain(presence).chain([Field::text("")]).collect();
        return vec![row];
    }
    let (cells, more) = phrases::outside_cells(comparison, found);
    let blank = || std::iter::repeat_n(Field::text(""), found.present.len() + 1);
    (cells.into_iter())
        .map(|(measure, cell, outside)| {
            let difference = Field::text(outside.difference.as_deref().unwrap_or(""));
            let name = Field::name(visible(&measure.name));
            key().chain([name]).chain(values(cell, outside.pair)).chain([difference]).collect()
        })
        .chain(more.map(|more| key().chain([Field::name(more)]).chain(blank()).collect()))
        .collect()
}

/// The values of all sources, those of the pair that decided with their difference marked.
fn values(cell: &Cell, (first, second): (usize, usize)) -> Vec<Field> {
    let shown: Vec<String> =
        cell.values.iter().map(|value| shown(value.as_ref().map(Option::as_deref))).collect();
    let is_value = |source: usize| matches!(&cell.values[source], Some(Some(_)));
    let marks = (is_value(first) && is_value(second)).then(|| differing(&shown[first], &shown[second]));
    (shown.into_iter().enumerate())
        .map(|(source, text)| match &marks {
            Some((mark, _)) if source == first => Field::marked(text, mark.clone()),
            Some((_, mark)) if source == second => Field::marked(text, mark.clone()),
            _ => Field::long(text),
        })
        .collect()
}

#[expect(clippy::option_option, reason = "absent and NULL are two things")]
fn shown(value: Option<Option<&str>>) -> String {
    value.map_or_else(|| "absent".to_owned(), |value| visible(phrases::or_null(value)))
}
