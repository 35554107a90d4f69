//! What an attempt told, as tables.

use trueup_events::comparison::{Completed, Tolerance};

use crate::report::text_grid::{Field, lines};
use crate::report::{Counts, Look, count, first_of};
use crate::story::{Stage, Story};
use crate::visible::visible;

/// The counts of a comparison in one sentence, as `diff` says them.
pub(crate) fn counts(comparison: &Completed) -> String {
    let counts = Counts {
        compared: comparison.rows_compared,
        joined: comparison.join_stats.matched_groups,
        matched: comparison.rows_matched,
        findings: comparison.findings.len(),
    };
    counts.sentence()
}

/// Sources, stages with those that were not reached, findings and measures, each below its heading with an empty line before it.
pub(crate) fn tables(story: &Story, unreached: &[&str], look: Look) -> String {
    let table = |title: &str, headings: &[&str], rows: Vec<Vec<Field>>| match rows.len() {
        0 => String::new(),
        _ => format!("\n{title}\n{}", lines(headings, &rows, look.width, look.marks())),
    };
    let findings = story.comparison.iter().filter(|comparison| !comparison.findings.is_empty());
    let findings =
        findings.map(|comparison| format!("\nFindings\n{}", first_of(&comparison.findings, "finding")));
    let measures = (story.stages.iter())
        .flat_map(|stage| stage.tolerances.iter().map(|tolerance| measure_row(stage, tolerance)))
        .collect();
    let errors = story.sources.iter().map(|source| (&source.name, &source.error));
    let errors = errors.chain(story.stages.iter().map(|stage| (&stage.name, &stage.error)));
    let errors = errors
        .filter_map(|(name, error)| Some(vec![Field::name(name), Field::long(visible(error.as_deref()?))]));
    let unreached = unreached
        .iter()
        .map(|name| vec![Field::name(*name), Field::text("not reached"), Field::number(String::new())]);
    let stages = story.stages.iter().map(stage_row).chain(unreached).collect();
    let tables = [
        table("Sources", &["source", "rows", "unmatched"], source_rows(story)),
        table("Stages", &["stage", "result", "rows"], stages),
        findings.collect(),
        table("Measures", &["stage", "measure", "rule", "within", "outside", "passed"], measures),
        table("Errors", &["source or stage", "error"], errors.collect()),
    ];
    tables.concat()
}

fn source_rows(story: &Story) -> Vec<Vec<Field>> {
    let unmatched = story.comparison.as_ref().map(|comparison| &comparison.join_stats.unmatched_by_source);
    (story.sources.iter())
        .map(|source| {
            let unmatched = unmatched.and_then(|by_source| by_source.get(&source.name));
            vec![
                Field::name(&source.name),
                Field::number(source.rows.map(count).unwrap_or_default()),
                Field::number(unmatched.copied().map(count).unwrap_or_default()),
            ]
        })
        .collect()
}

fn stage_row(stage: &Stage) -> Vec<Field> {
    vec![
        Field::name(&stage.name),
        Field::text(stage.result.map(|verdict| verdict.to_string()).unwrap_or_default()),
        Field::number(count(stage.rows)),
    ]
}

fn measure_row(stage: &Stage, tolerance: &Tolerance) -> Vec<Field> {
    let value = tolerance.tolerance_value.as_ref().map(|value| format!(" {value}"));
    vec![
        Field::name(&stage.name),
        Field::name(&tolerance.measure_name),
        Field::text(format!("{}{}", tolerance.tolerance_type, value.unwrap_or_default())),
        Field::number(count(tolerance.within_tolerance_count)),
        Field::number(count(tolerance.outside_tolerance_count)),
        Field::text(if tolerance.passed { "yes" } else { "no" }),
    ]
}
