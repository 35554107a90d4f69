//! Decides, from the specification and the sources' columns, what is read and how each column is compared.

mod column;
mod fit;
pub(crate) mod learn;
mod names;
pub(crate) mod stray;
pub(crate) mod survey;

use std::collections::{HashMap, HashSet};

use crate::error::Error;
use crate::kind::Physical;
use crate::report::{ColumnReport, Finding};
use crate::spec::{Aggregate, Allow, Duplicates, LeftOut, Rule, Source, Spec, Tolerance};
use crate::text::Assumption;

pub(crate) use column::{Column, Encoding, How, Reader};
use fit::Faults;
pub(crate) use fit::Fit;
use names::{Names, no_such_column};

/// What has been learnt of the data so far; a comparison that learns more starts over.
#[derive(Default)]
pub(crate) struct Learnt {
    /// What the values of a text column allow, by source and column name.
    pub(crate) assumptions: HashMap<(usize, String), Assumption>,
    /// The most decimals seen in a numeral of a column.
    pub(crate) scales: HashMap<String, u32>,
    /// Columns with a number that fits no fixed scale.
    pub(crate) general: HashSet<String>,
    /// Text columns, by source and name, that are not plainly text in the first rows.
    pub(crate) watched: HashSet<(usize, String)>,
    /// Columns whose text is long, as far as the first rows show.
    pub(crate) long: HashSet<String>,
}

/// One measure, ready to be checked.
#[derive(Debug, Clone)]
pub(crate) struct Measure {
    pub(crate) name: String,
    pub(crate) aggregate: Aggregate,
    /// Into [`Plan::columns`]; `None` for `count(*)`, and for what cannot be computed.
    pub(crate) column: Option<usize>,
    pub(crate) rule: Rule,
    /// The rule that was asked for, which may not be for what the column is.
    pub(crate) asked: Rule,
    pub(crate) allow: Allow,
    pub(crate) fit: Fit,
}

/// What is read and how it is compared.
pub(crate) struct Plan {
    pub(crate) columns: Vec<Column>,
    /// Into `columns`; these come first.
    pub(crate) key: Vec<usize>,
    pub(crate) measures: Vec<Measure>,
    /// Whether groups are aggregated, rather than rows paired.
    pub(crate) aggregates: bool,
    pub(crate) duplicates: Duplicates,
    pub(crate) findings: Vec<Finding>,
    pub(crate) reports: Vec<ColumnReport>,
    pub(crate) reference: Option<usize>,
    /// What is known to be the same in every source, and not read.
    pub(crate) left_out: LeftOut,
    /// What was known beforehand.
    pub(crate) notes: Vec<String>,
}

impl Plan {
    /// The measures whose text is too long to be read again without need: exact ones, row by row.
    pub(crate) fn is_long(&self, measure: &Measure) -> bool {
        self.is_digested(measure) && measure.column.is_some_and(|column| self.columns[column].is_long)
    }

    /// The measures that are compared by a digest, when there is one: exact values, row by row.
    pub(crate) fn is_digested(&self, measure: &Measure) -> bool {
        !self.aggregates && measure.rule == Rule::Exact
    }

    /// Whether it does not matter what the values of a column mean, only how many there are.
    pub(crate) fn is_only_counted(&self, column: usize) -> bool {
        let mut measures = self.measures.iter().filter(|measure| measure.column == Some(column));
        let counts = |it: &Measure| matches!(it.aggregate, Aggregate::Count | Aggregate::CountDistinct);
        !self.key.contains(&column) && measures.all(counts)
    }

    pub(crate) fn new(sources: &[Source<'_>], spec: &Spec, learnt: &Learnt) -> Result<Self, Error> {
        let names = Names::new(sources)?;
        check_spec(sources, spec, &names)?;
        let aggregates = spec.measures.iter().any(|measure| measure.aggregate != Aggregate::Value);
        let mut building =
            Building { sources, spec, learnt, names: &names, columns: Vec::new(), faults: Faults::default() };
        let mut key = Vec::new();
        for name in &spec.key {
            key.push(building.key_column(name)?);
        }
        let measures =
            if spec.measures.is_empty() { building.row_measures()? } else { building.given_measures()? };
        let Building { mut columns, faults, .. } = building;
        let findings = faults.findings();
        for column in &mut columns {
            column.note_drift(&findings);
        }
        let duplicates = duplicates(spec, aggregates)?;
        let reports = names.reports(&columns, &key);
        Ok(Self {
            columns,
            key,
            measures,
            aggregates,
            duplicates,
            findings,
            reports,
            reference: spec.reference,
            left_out: spec.left_out.clone(),
            notes: spec.notes.clone(),
        })
    }
}

fn duplicates(spec: &Spec, aggregates: bool) -> Result<Duplicates, Error> {
    match spec.duplicates {
        None if aggregates => Ok(Duplicates::Aggregate),
        None => Ok(Duplicates::Multiset),
        Some(Duplicates::Aggregate) if !aggregates => Err(Error::spec_hint(
            "duplicates can only be aggregated when a measure says how",
            "add a measure such as sum(amount)",
        )),
        Some(Duplicates::Multiset) if aggregates => Err(Error::spec_hint(
            "measures with aggregates take all rows of a group together, so there is nothing to pair",
            "leave out the measures, or the policy `multiset`",
        )),
        Some(policy) => Ok(policy),
    }
}

fn check_spec(sources: &[Source<'_>], spec: &Spec, names: &Names) -> Result<(), Error> {
    if sources.len() < 2 {
        return Err(Error::spec("a comparison needs at least two sources"));
    }
    if spec.key.is_empty() {
        return Err(Error::spec_hint("there is no key", "name the columns that tell rows apart"));
    }
    if spec.reference.is_some_and(|reference| reference >= sources.len()) {
        return Err(Error::spec("the reference is not one of the sources"));
    }
    let mixed = spec.measures.iter().any(|measure| measure.aggregate == Aggregate::Value)
        && spec.measures.iter().any(|measure| measure.aggregate != Aggregate::Value);
    if mixed {
        return Err(Error::spec_hint(
            "value() compares row by row and cannot stand beside aggregates",
            "use min() or max() for it",
        ));
    }
    let formats = || sources.iter().flat_map(|source| source.date_formats.keys());
    if let Some(name) =
        spec.texts.iter().find(|text| spec.booleans.iter().chain(formats()).any(|it| it == *text))
    {
        let what = format!("`{name}` cannot be text, and dates or truth values at once");
        return Err(Error::spec_hint(what, "declare it as one of them"));
    }
    let listed = [&spec.compare, &spec.ignore, &spec.booleans, &spec.texts].into_iter().flatten();
    for name in listed.chain(spec.normalisers.keys()).chain(formats()) {
        if !names.is_known(name) {
            return Err(no_such_column(name, names));
        }
    }
    for name in spec.tolerances.keys() {
        if !names.is_known(name) && spec.measures.iter().all(|measure| measure.name != *name) {
            return Err(no_such_column(name, names));
        }
    }
    Ok(())
}

struct Building<'a> {
    sources: &'a [Source<'a>],
    spec: &'a Spec,
    learnt: &'a Learnt,
    names: &'a Names,
    columns: Vec<Column>,
    faults: Faults,
}

impl Building<'_> {
    fn key_column(&mut self, name: &str) -> Result<usize, Error> {
        let indices = self.names.indices(name);
        if indices.iter().all(Option::is_none) {
            return Err(no_such_column(name, self.names));
        }
        if let Some(lacking) = indices.iter().position(Option::is_none) {
            return Err(Error::MissingKey {
                source_name: self.sources[lacking].name.clone(),
                column: name.into(),
                near: self.names.near_in(lacking, name),
            });
        }
        if self.columns.iter().any(|column| column.name == name) {
            return Err(Error::spec(format!("`{name}` is in the key twice")));
        }
        let index = self.column(name)?;
        let disagreement = self.columns[index].disagreement.as_ref();
        if let Some(conflict) = disagreement.filter(|it| !it.is_drift) {
            self.faults.of_kinds(name, conflict).leads_to("compared as text".into());
        }
        Ok(index)
    }

    /// The column, planned once however many measures use it; all sources must have it.
    fn column(&mut self, name: &str) -> Result<usize, Error> {
        if let Some(known) = self.columns.iter().position(|column| column.name == name) {
            return Ok(known);
        }
        let indices: Vec<usize> = self.names.indices(name).into_iter().flatten().collect();
        self.columns.push(Column::plan(name, indices, self.sources, self.spec, self.learnt)?);
        Ok(self.columns.len() - 1)
    }

    fn row_measures(&mut self) -> Result<Vec<Measure>, Error> {
        let mut measures = Vec::new();
        for name in self.names.all() {
            let wanted = (self.spec.compare.is_empty() || self.spec.compare.contains(name))
                && !self.spec.ignore.contains(name)
                && !self.spec.key.contains(name);
            if wanted {
                measures.extend(self.measure(name, Aggregate::Value, name)?);
            }
        }
        Ok(measures)
    }

    fn given_measures(&mut self) -> Result<Vec<Measure>, Error> {
        let mut measures: Vec<Measure> = Vec::new();
        for given in &self.spec.measures {
            if measures.iter().any(|measure| measure.name == given.name) {
                return Err(Error::spec(format!("two measures are named `{}`", given.name)));
            }
            measures.extend(self.measure(&given.name, given.aggregate, &given.column)?);
        }
        Ok(measures)
    }

    /// A measure of a column; where its sources do not allow it, a finding says so, and what becomes of it.
    fn measure(&mut self, name: &str, aggregate: Aggregate, column: &str) -> Result<Option<Measure>, Error> {
        let tolerance = self.spec.tolerances.get(name).or_else(|| self.spec.tolerances.get(column));
        let is_asked_for = tolerance.is_some() || !self.spec.measures.is_empty();
        let Tolerance { rule, allow } = tolerance.cloned().unwrap_or_default();
        let asked = rule.clone();
        let measure =
            Measure { name: name.into(), aggregate, column: None, rule, asked, allow, fit: Fit::Whole };
        if column == "*" {
            if aggregate != Aggregate::Count {
                return Err(Error::spec_hint(format!("{name}: only count takes `*`"), "name a column"));
            }
            return Ok(Some(measure));
        }
        let indices = self.names.indices(column);
        if indices.iter().all(Option::is_none) {
            return Err(no_such_column(column, self.names));
        }
        let lacking: Vec<&str> = (self.sources.iter().zip(&indices))
            .filter(|(_, index)| index.is_none())
            .map(|(source, _)| source.name.as_str())
            .collect();
        if !lacking.is_empty() {
            let fault = self.faults.of(column, format!("missing in {}", lacking.join(", ")));
            return Ok(is_asked_for.then(|| fit::uncomputed(measure, fault)));
        }
        let index = self.column(column)?;
        fit::fitted(Measure { column: Some(index), ..measure }, &self.columns[index], &mut self.faults)
            .map(Some)
    }
}

/// What a physical type is called in reports; the columns of text formats have no other type.
fn type_name(physical: Physical, data_type: &arrow_schema::DataType) -> String {
    if physical == Physical::Text { "text".into() } else { data_type.to_string() }
}
