//! The table of the first breaks, for reports with markup.

use std::ops::Range;

use trueup_compare::{Break, Cell, Comparison};

use super::marking::differing;
use super::phrases;

/// How a report writes what a table of breaks is made of.
pub(super) struct Markup {
    /// A name of a column or source.
    pub(crate) name: fn(&str) -> String,
    /// A value, NULL being none, and the part of it that differs.
    pub(crate) value: fn(Option<&str>, Range<usize>) -> String,
    /// A difference.
    pub(crate) difference: fn(&str) -> String,
    /// What a source has that lacks the key of a group.
    pub(crate) absent: &'static str,
}

/// The table, ready to be laid out.
pub(super) struct BreakTable {
    /// The headings: the key (and which break of it), the column, the sources and the difference.
    pub(crate) head: Vec<String>,
    /// A row for each measure that is outside, one for a group that is absent somewhere.
    pub(crate) rows: Vec<Vec<String>>,
    /// How many breaks are not shown, in words.
    pub(crate) more: Option<String>,
}

impl BreakTable {
    /// Of the breaks in the comparison; none without any.
    pub(super) fn new(comparison: &Comparison, markup: &Markup) -> Option<Self> {
        let breaks = &comparison.breaks;
        if breaks.is_empty() {
            return None;
        }
        let names = |names: &[String]| names.iter().map(|name| (markup.name)(name)).collect::<Vec<_>>();
        let mut head = names(&comparison.key);
        head.extend(phrases::keys_recur(comparison).then(|| "occurrence".to_owned()));
        head.push("column".to_owned());
        head.extend(names(&comparison.sources));
        head.push("difference".to_owned());
        let rows = breaks.iter().flat_map(|found| rows(comparison, found, markup)).collect();
        let all = usize::try_from(comparison.rows_unmatched).unwrap_or(breaks.len());
        Some(Self { head, rows, more: phrases::more(all, breaks.len(), "break") })
    }
}

fn rows(comparison: &Comparison, found: &Break, markup: &Markup) -> Vec<Vec<String>> {
    let recur = phrases::keys_recur(comparison);
    let key = || {
        let parts = found.key.iter().map(|part| (markup.value)(part.as_deref(), 0..0));
        parts.chain(recur.then(|| phrases::count(found.occurrence)))
    };
    if !found.is_outside() {
        let presence = phrases::presence(found, markup.absent).map(str::to_owned);
        return vec![key().chain([String::new()]).chain(presence).chain([String::new()]).collect()];
    }
    let (cells, more) = phrases::outside_cells(comparison, found);
    let blank = || std::iter::repeat_n(String::new(), found.present.len() + 1);
    (cells.into_iter())
        .map(|(measure, cell, outside)| {
            let name = (markup.name)(&measure.name);
            let difference = (markup.difference)(outside.difference.as_deref().unwrap_or_default());
            key().chain([name]).chain(values(cell, outside.pair, markup)).chain([difference]).collect()
        })
        .chain(more.map(|more| key().chain([more]).chain(blank()).collect()))
        .collect()
}

/// The values of all sources, those of the pair that decided with what differs.
fn values(cell: &Cell, (first, second): (usize, usize), markup: &Markup) -> Vec<String> {
    let text = |source: usize| cell.values[source].as_ref().and_then(Option::as_deref);
    let marks = text(first).zip(text(second)).map(|(left, right)| differing(left, right));
    (0..cell.values.len())
        .map(|source| {
            let mark = match &marks {
                Some((mark, _)) if source == first => mark.clone(),
                Some((_, mark)) if source == second => mark.clone(),
                _ => 0..0,
            };
            (markup.value)(text(source), mark)
        })
        .collect()
}
