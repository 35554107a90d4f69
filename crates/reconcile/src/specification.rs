//! Turns a stage of a job into what `compare` takes.

use std::collections::BTreeMap;

use trueup_compare::{Allow, Base, Decimal, Duplicates, LeftOut, Measure, Normaliser, Rule, Spec, Tolerance};
use trueup_events::outcome::RunError;
use trueup_job::{Job, Stage, Type};

use crate::failure::invalid_job;

/// What a stage compares; this many breaks are kept beside the file that has all of them.
pub(crate) fn spec(job: &Job, stage: &Stage, breaks_kept: usize) -> Result<Spec, RunError> {
    let mut tolerances = BTreeMap::new();
    let mut normalisers: BTreeMap<String, Vec<Normaliser>> = BTreeMap::new();
    for given in &stage.tolerances {
        tolerances.insert(given.measure.clone(), tolerance(job, stage, given)?);
        if let trueup_job::Rule::Exact { normalise } = &given.rule {
            let column = column(job, &given.measure);
            normalisers.entry(column).or_default().extend(normalise.iter().copied().map(normaliser));
        }
    }
    normalisers.retain(|_, normalisers| !normalisers.is_empty());
    Ok(Spec {
        key: stage.dimensions.clone(),
        measures: job.measures.iter().map(measure).collect(),
        compare: job.only.clone(),
        ignore: job.ignore.clone(),
        tolerances,
        normalisers,
        booleans: Vec::new(),
        texts: texts(job)?,
        duplicates: job.duplicates.map(duplicates),
        reference: job.reference.as_deref().map(|name| source(job, "reference", name)).transpose()?,
        verify: false,
        left_out: LeftOut::default(),
        notes: Vec::new(),
        limit: breaks_kept,
    })
}

/// The columns that are text in every source since one of them says so.
fn texts(job: &Job) -> Result<Vec<String>, RunError> {
    let casts = || job.sources.iter().flat_map(|source| source.casts.iter().map(move |cast| (source, cast)));
    let mut texts = Vec::new();
    for (source, (column, _)) in casts().filter(|(_, (_, to))| **to == Type::String) {
        let other = casts().find(|(_, (other, to))| *other == column && **to != Type::String);
        if let Some((other, (_, to))) = other {
            let field = format!("sources.{}.casts.{column}", other.name);
            return Err(invalid_job(&field, format!("it is {to} here and string in {}", source.name)));
        }
        if !texts.contains(column) {
            texts.push(column.clone());
        }
    }
    Ok(texts)
}

/// The column that a measure is of; row by row they have the same name.
fn column(job: &Job, measure: &str) -> String {
    let found = job.measures.iter().find(|known| known.name == measure);
    found.map_or(measure, |known| &known.column).to_owned()
}

fn tolerance(job: &Job, stage: &Stage, given: &trueup_job::Tolerance) -> Result<Tolerance, RunError> {
    let field = format!("stages.{}.tolerances.{}", stage.name, given.measure);
    let decimal = |decimal: &trueup_job::Decimal| -> Result<Decimal, RunError> {
        decimal.to_string().parse().map_err(|error| invalid_job(&field, format!("{decimal} has {error}")))
    };
    let rule = match &given.rule {
        trueup_job::Rule::Exact { .. } => Rule::Exact,
        trueup_job::Rule::Absolute(value) => Rule::Absolute(decimal(value)?),
        trueup_job::Rule::Percentage { value, base } => {
            let base = match base {
                trueup_job::Base::Larger => Base::Larger,
                trueup_job::Base::Smaller => Base::Smaller,
                trueup_job::Base::Mean => Base::Mean,
                trueup_job::Base::Source(name) => Base::Source(source(job, &field, name)?),
            };
            Rule::Percentage { value: decimal(value)?, base }
        }
        trueup_job::Rule::Duration { from, to } => Rule::Duration { from: decimal(from)?, to: decimal(to)? },
    };
    let allow = match &given.allow {
        trueup_job::Allow::None => Allow::None,
        trueup_job::Allow::Count(count) => Allow::Count(*count),
        trueup_job::Allow::Percent(share) => Allow::Percent(decimal(share)?),
    };
    Ok(Tolerance { rule, allow })
}

fn source(job: &Job, field: &str, name: &str) -> Result<usize, RunError> {
    let found = job.sources.iter().position(|source| source.name == name);
    found.ok_or_else(|| invalid_job(field, format!("there is no source `{name}`")))
}

fn measure(measure: &trueup_job::Measure) -> Measure {
    use trueup_compare::Aggregate;
    let aggregate = match measure.aggregate {
        trueup_job::Aggregate::Sum => Aggregate::Sum,
        trueup_job::Aggregate::Count => Aggregate::Count,
        trueup_job::Aggregate::CountDistinct => Aggregate::CountDistinct,
        trueup_job::Aggregate::Min => Aggregate::Min,
        trueup_job::Aggregate::Max => Aggregate::Max,
        trueup_job::Aggregate::Avg => Aggregate::Avg,
        trueup_job::Aggregate::Value => Aggregate::Value,
    };
    Measure { name: measure.name.clone(), aggregate, column: measure.column.clone() }
}

fn normaliser(normaliser: trueup_job::Normaliser) -> Normaliser {
    match normaliser {
        trueup_job::Normaliser::Trim => Normaliser::Trim,
        trueup_job::Normaliser::CollapseSpace => Normaliser::CollapseSpace,
        trueup_job::Normaliser::Casefold => Normaliser::Casefold,
        trueup_job::Normaliser::Nfc => Normaliser::Nfc,
    }
}

fn duplicates(duplicates: trueup_job::Duplicates) -> Duplicates {
    match duplicates {
        trueup_job::Duplicates::Aggregate => Duplicates::Aggregate,
        trueup_job::Duplicates::Multiset => Duplicates::Multiset,
        trueup_job::Duplicates::Error => Duplicates::Error,
    }
}
