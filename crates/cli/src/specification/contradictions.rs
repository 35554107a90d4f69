//! Options that cannot both be meant.

use trueup_compare::{Aggregate, Measure, Spec};

use crate::failure::Failure;

/// Refuses a column that one option takes in and another leaves out, or to which an option cannot apply.
pub(super) fn check(spec: &Spec, columns: &[String]) -> Result<(), Failure> {
    if let Some(column) = spec.compare.iter().find(|column| spec.ignore.contains(column)) {
        return Err(Failure::usage_hint(
            format!("`{column}` is in --compare and in --ignore"),
            "leave it out of one of them; --compare alone compares nothing else",
        ));
    }
    if let Some(column) = spec.ignore.iter().find(|column| spec.key.contains(column)) {
        return Err(Failure::usage_hint(
            format!("`{column}` is in --key and in --ignore"),
            "leave it out of one of them",
        ));
    }
    let uses = |measure: &&Measure| spec.ignore.contains(&measure.column);
    if let Some(measure) = spec.measures.iter().find(uses) {
        return Err(Failure::usage_hint(
            format!("measure {} needs `{}`, which is in --ignore", measure.name, measure.column),
            "leave out --ignore: with measures, only their columns are compared",
        ));
    }
    let measured =
        |name: &String| spec.measures.iter().any(|measure| measure.name == *name || measure.column == *name);
    if let Some(column) = spec.tolerances.keys().find(|name| spec.key.contains(name) && !measured(name)) {
        return Err(Failure::usage_hint(
            format!("`{column}` is in --key, so it cannot have a tolerance"),
            "keys belong together when they are equal; leave out the tolerance, or choose another key",
        ));
    }
    if let Some(column) = spec.tolerances.keys().find(|name| spec.ignore.contains(name) && !measured(name)) {
        return Err(Failure::usage_hint(
            format!("`{column}` has a tolerance and is in --ignore"),
            "leave out one of them",
        ));
    }
    let other_name = |name: &String| {
        let known = columns.contains(name) || measured(name);
        spec.measures.iter().find(|measure| !known && as_written(measure) == *name)
    };
    let by_call = spec.tolerances.keys().find_map(|name| Some((name, other_name(name)?)));
    if let Some((name, measure)) = by_call {
        return Err(Failure::usage_hint(
            format!("the tolerance of `{name}` is for no measure: {name} is called `{}`", measure.name),
            format!("write --tolerance {}={}", measure.name, spec.tolerances[name].rule),
        ));
    }
    Ok(())
}

/// A measure as it is written without a name: `sum(amount)`.
fn as_written(measure: &Measure) -> String {
    let aggregate = match measure.aggregate {
        Aggregate::Sum => "sum",
        Aggregate::Count => "count",
        Aggregate::CountDistinct => "count_distinct",
        Aggregate::Min => "min",
        Aggregate::Max => "max",
        Aggregate::Avg => "avg",
        Aggregate::Value => "value",
    };
    format!("{aggregate}({})", measure.column)
}
