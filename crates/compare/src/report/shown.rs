//! A break in the words that reports show, in buffers that serve one break after the other.

use std::ops::Range;

use crate::report::{Break, Cell, Outside};

/// Where a text is; `None` for NULL, and for a source without the group.
type Span = Option<Range<usize>>;

/// A break as it is shown.
#[derive(Default)]
pub(crate) struct Shown {
    /// All texts, one behind the other.
    texts: String,
    key: Vec<Span>,
    occurrence: u64,
    present: Vec<bool>,
    has_key: Vec<bool>,
    measures: Vec<Measure>,
    /// By measure that is shown, then by source.
    values: Vec<Span>,
}

/// A measure that is shown.
struct Measure {
    number: usize,
    /// The sources that are furthest apart, if it is outside.
    pair: Option<(usize, usize)>,
    difference: Span,
}

/// A measure of a break as it is shown.
pub(crate) struct ShownMeasure<'a> {
    shown: &'a Shown,
    at: usize,
}

impl Shown {
    /// Starts another break, in the memory of the one before it.
    pub(crate) fn start(&mut self, present: &[bool], has_key: &[bool], occurrence: u64) {
        self.texts.clear();
        self.key.clear();
        self.measures.clear();
        self.values.clear();
        self.present.clear();
        self.present.extend(present);
        self.has_key.clear();
        self.has_key.extend(has_key);
        self.occurrence = occurrence;
    }

    /// Adds a part of the key; what writes it says whether there is one.
    pub(crate) fn key_part(&mut self, write: impl FnOnce(&mut String) -> bool) {
        let part = self.text(write);
        self.key.push(part);
    }

    /// Adds a measure, of which the values of all sources are to follow.
    pub(crate) fn measure(&mut self, number: usize, pair: Option<(usize, usize)>) {
        self.measures.push(Measure { number, pair, difference: None });
    }

    /// Adds the value of the next source; what writes it says whether there is one.
    pub(crate) fn value(&mut self, write: impl FnOnce(&mut String) -> bool) {
        let value = self.text(write);
        self.values.push(value);
    }

    /// Adds how far the values of the last measure are apart.
    pub(crate) fn difference(&mut self, difference: &str) {
        let span = self.text(|texts| {
            texts.push_str(difference);
            true
        });
        if let Some(last) = self.measures.last_mut() {
            last.difference = span;
        }
    }

    fn text(&mut self, write: impl FnOnce(&mut String) -> bool) -> Span {
        let start = self.texts.len();
        write(&mut self.texts).then_some(start..self.texts.len())
    }

    fn get(&self, span: &Span) -> Option<&str> {
        span.clone().map(|span| &self.texts[span])
    }

    pub(crate) fn key(&self) -> impl Iterator<Item = Option<&str>> {
        self.key.iter().map(|part| self.get(part))
    }

    pub(crate) fn occurrence(&self) -> u64 {
        self.occurrence
    }

    /// Which sources have it.
    pub(crate) fn present(&self) -> &[bool] {
        &self.present
    }

    /// Which sources have any row of its key.
    pub(crate) fn has_key(&self) -> &[bool] {
        &self.has_key
    }

    /// Whether every source has it, so that a measure must be outside.
    pub(crate) fn is_outside(&self) -> bool {
        self.present.iter().all(|present| *present)
    }

    pub(crate) fn measures(&self) -> impl Iterator<Item = ShownMeasure<'_>> {
        (0..self.measures.len()).map(|at| ShownMeasure { shown: self, at })
    }

    /// The same with texts of its own, of a comparison with so many measures.
    pub(crate) fn to_break(&self, measures: usize) -> Break {
        let mut cells = vec![Cell { values: Vec::new(), outside: None }; measures];
        for measure in self.measures() {
            let values = measure.values().map(|value| value.map(str::to_owned)).zip(&self.present);
            let difference = || measure.difference().map(str::to_owned);
            cells[measure.number()] = Cell {
                values: values.map(|(value, present)| present.then_some(value)).collect(),
                outside: measure.pair().map(|pair| Outside { pair, difference: difference() }),
            };
        }
        Break {
            key: self.key().map(|part| part.map(str::to_owned)).collect(),
            occurrence: self.occurrence,
            present: self.present.clone(),
            has_key: self.has_key.clone(),
            cells,
        }
    }
}

impl<'a> ShownMeasure<'a> {
    /// Its number in the plan.
    pub(crate) fn number(&self) -> usize {
        self.shown.measures[self.at].number
    }

    /// The sources that are furthest apart, if it is outside.
    pub(crate) fn pair(&self) -> Option<(usize, usize)> {
        self.shown.measures[self.at].pair
    }

    pub(crate) fn difference(&self) -> Option<&'a str> {
        self.shown.get(&self.shown.measures[self.at].difference)
    }

    /// By source; `None` for NULL, and for a source without the group.
    pub(crate) fn values(&self) -> impl Iterator<Item = Option<&'a str>> + use<'a> {
        let (shown, sources) = (self.shown, self.shown.present.len());
        shown.values[self.at * sources..][..sources].iter().map(|value| shown.get(value))
    }
}
