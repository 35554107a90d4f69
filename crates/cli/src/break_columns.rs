//! The measures of a break file with their rules: as announced before a comparison, and as it decided.

use trueup_compare::{Comparison, Rule, Source, Spec};

use crate::report::rule;

/// What the comparison will report, in its order, as far as the command line and the columns' names tell.
pub fn announced(sources: &[Source<'_>], spec: &Spec) -> Vec<(String, String)> {
    let names: Vec<Vec<String>> = sources.iter().map(columns).collect();
    let everywhere = |name: &String| names.iter().all(|names| names.contains(name));
    let with_rule = |name: &String, column: &String| {
        let tolerance = spec.tolerances.get(name).or_else(|| spec.tolerances.get(column));
        let rule = match tolerance.map(|tolerance| &tolerance.rule) {
            None | Some(Rule::Exact) => Rule::Exact.type_name().to_owned(),
            Some(rule) => format!("{} {rule}", rule.type_name()),
        };
        (name.clone(), rule)
    };
    if !spec.measures.is_empty() {
        return (spec.measures.iter())
            .filter(|measure| measure.column == "*" || everywhere(&measure.column))
            .map(|measure| with_rule(&measure.name, &measure.column))
            .collect();
    }
    (names.first().into_iter().flatten())
        .filter(|name| everywhere(name) && !spec.key.contains(name) && !spec.ignore.contains(name))
        .filter(|name| spec.compare.is_empty() || spec.compare.contains(name))
        .map(|name| with_rule(name, name))
        .collect()
}

/// What the comparison did report.
pub fn decided(comparison: &Comparison) -> Vec<(String, String)> {
    comparison
        .measures
        .iter()
        .map(|measure| (measure.name.clone(), rule(measure)))
        .collect()
}

fn columns(source: &Source<'_>) -> Vec<String> {
    let schema = source.table.schema();
    let renamed = |name: &String| source.renames.get(name).unwrap_or(name).clone();
    schema
        .fields()
        .iter()
        .map(|field| renamed(field.name()))
        .collect()
}
