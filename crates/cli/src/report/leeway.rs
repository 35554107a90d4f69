//! What a tolerance leaves open: what a percentage is of, and how many groups may be outside.

use trueup_compare::{Allow, Base, MeasureReport, Rule, RuleType, Tolerance};

use super::{Report, phrases};
use crate::visible::visible;

impl Report<'_> {
    /// The rule of a measure with all that belongs to it: `PERCENTAGE 5% of the smaller, 3 allowed`.
    pub(crate) fn rule(&self, measure: &MeasureReport) -> String {
        let base = match self.base(measure) {
            Some(base @ ("larger" | "smaller" | "mean")) => format!(" of the {base}"),
            Some(source) => format!(" of {}", visible(source)),
            None => String::new(),
        };
        let allowed = match self.allow(measure) {
            Allow::None => String::new(),
            Allow::Count(groups) => format!(", {} allowed", phrases::count(*groups)),
            Allow::Percent(share) => format!(", {share}% allowed"),
        };
        format!("{}{base}{allowed}", phrases::rule(measure))
    }

    /// What the percentage of a measure is a share of: `larger`, `smaller`, `mean`, or a source; none without one.
    pub(crate) fn base(&self, measure: &MeasureReport) -> Option<&str> {
        // A column whose kinds disagree is compared exactly, whatever its tolerance says.
        let tolerance = self.tolerance(measure).filter(|_| measure.tolerance_type == RuleType::Percentage)?;
        match tolerance.rule {
            Rule::Percentage { base: Base::Larger, .. } => Some("larger"),
            Rule::Percentage { base: Base::Smaller, .. } => Some("smaller"),
            Rule::Percentage { base: Base::Mean, .. } => Some("mean"),
            Rule::Percentage { base: Base::Source(source), .. } => Some(&self.comparison.sources[source]),
            Rule::Exact | Rule::Absolute(_) | Rule::Duration { .. } => None,
        }
    }

    /// How many groups of a measure may be outside.
    pub(crate) fn allow(&self, measure: &MeasureReport) -> &Allow {
        self.tolerance(measure).map_or(&Allow::None, |tolerance| &tolerance.allow)
    }

    /// The tolerance by the measure's name, or that of its column.
    fn tolerance(&self, measure: &MeasureReport) -> Option<&Tolerance> {
        let tolerances = &self.spec.tolerances;
        tolerances.get(&measure.name).or_else(|| {
            let given = self.spec.measures.iter().find(|given| given.name == measure.name)?;
            tolerances.get(&given.column)
        })
    }
}
