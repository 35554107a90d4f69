//! The counts, largest difference and control totals of every measure, as reports for people list them.

use std::cmp::Reverse;

use trueup_compare::{Comparison, MeasureReport};

use super::phrases::{self, MANY};

/// All measures: those with breaks first, most breaks first of all, then those with control totals.
pub(super) struct Figures<'a> {
    measures: Vec<&'a MeasureReport>,
    sources: &'a [String],
    with_totals: bool,
}

impl<'a> Figures<'a> {
    /// Of the measures in the comparison.
    pub(super) fn new(comparison: &'a Comparison) -> Self {
        let mut measures: Vec<&MeasureReport> = comparison.measures.iter().collect();
        measures.sort_by_key(|measure| (Reverse(measure.outside), measure.totals.is_none()));
        let with_totals = measures.iter().any(|measure| measure.totals.is_some());
        Self { measures, sources: &comparison.sources, with_totals }
    }

    /// The first of them.
    pub(super) fn shown(&self) -> &[&'a MeasureReport] {
        &self.measures[..self.measures.len().min(MANY)]
    }

    /// The others.
    pub(super) fn rest(&self) -> &[&'a MeasureReport] {
        &self.measures[self.shown().len()..]
    }

    /// How many others there are, and whether they have breaks.
    pub(super) fn more(&self) -> Option<String> {
        let broken = self.rest().iter().filter(|measure| measure.outside > 0).count();
        let standing = match broken {
            0 => "all within".to_owned(),
            broken => format!("{} with breaks", phrases::count(broken as u64)),
        };
        Some(format!("{}, {standing}", phrases::more(self.measures.len(), MANY, "column")?))
    }

    /// What the totals are, with the names of sources as the report writes them; none if no measure has any.
    pub(super) fn total_headings(&self, name: fn(&str) -> String) -> Vec<String> {
        let sources = self.sources.iter().filter(|_| self.with_totals);
        sources.map(|source| format!("total {}", name(source))).collect()
    }

    /// The control totals of one measure, empty where there is none.
    pub(super) fn totals(&self, measure: &MeasureReport) -> Vec<String> {
        let total = |source: usize| measure.totals.as_ref()?.get(source)?.clone();
        let sources = (0..self.sources.len()).filter(|_| self.with_totals);
        sources.map(|source| total(source).unwrap_or_default()).collect()
    }
}

/// What the [`counts`] are.
pub(super) const COUNT_HEADINGS: [&str; 4] = ["within", "outside", "share", "largest difference"];

/// The counts of one measure and its largest difference.
pub(super) fn counts(measure: &MeasureReport) -> [String; 4] {
    [
        phrases::count(measure.within),
        phrases::count(measure.outside),
        phrases::percent(measure.outside, measure.outside + measure.within),
        measure.largest_difference.clone().unwrap_or_default(),
    ]
}
