//! The columns of a break file and the lines of one break.

use arrow_schema::{DataType, Field};

use crate::report::shown::{Shown, ShownMeasure};
use crate::report::{BreakHeader, absence};
use crate::spec::Tolerance;

/// The columns that every break file has, besides the key and the sources.
const FIXED: [&str; 7] = ["occurrence", "status", "present_in", "column", "difference", "tolerance", "rule"];

/// The only column that is not text.
const OCCURRENCE: &str = FIXED[0];

/// The only one of them whose values are mostly its own.
const DIFFERENCE: &str = FIXED[4];

/// Whether a column mostly has the same few values.
pub(super) fn repeats(column: &Field) -> bool {
    FIXED.contains(&column.name().as_str()) && column.name() != DIFFERENCE
}

/// What a line has in a column.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Null,
    Text(&'a str),
    Number(u64),
}

impl<'a> From<Option<&'a str>> for Value<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, Self::Text)
    }
}

struct Measure {
    name: String,
    /// As `--tolerance` takes it: `0.5%,base=larger`; none when exact and nothing allowed.
    tolerance: Option<String>,
    /// The type and the tolerance: `EXACT`, `ABSOLUTE 0.01`.
    rule: String,
}

impl Measure {
    fn new(name: &str, tolerance: &Tolerance, sources: &[String]) -> Self {
        let written = (*tolerance != Tolerance::default()).then(|| tolerance.written(sources));
        let rule = match &written {
            None => tolerance.rule.rule_type().name().to_owned(),
            Some(written) => format!("{} {written}", tolerance.rule.rule_type().name()),
        };
        Self { name: name.to_owned(), tolerance: written, rule }
    }
}

/// Turns breaks into lines.
pub(super) struct Layout {
    columns: Vec<Field>,
    sources: Vec<String>,
    /// The names of all sources.
    everyone: String,
    measures: Vec<Measure>,
}

/// What the lines of a break have in common.
struct Group<'a> {
    found: &'a Shown,
    status: &'a str,
    present: &'a str,
}

impl Layout {
    pub(super) fn new(header: &BreakHeader) -> Self {
        let BreakHeader { sources, key, measures } = header;
        let measure = |(name, tolerance): &(String, Tolerance)| Measure::new(name, tolerance, sources);
        Self {
            columns: columns(sources, key),
            sources: sources.clone(),
            everyone: sources.join(", "),
            measures: measures.iter().map(measure).collect(),
        }
    }

    pub(super) fn columns(&self) -> &[Field] {
        &self.columns
    }

    pub(super) fn each_row(&self, found: &Shown, mut write: impl FnMut(&[Value<'_>])) {
        if !found.is_outside() {
            let group = Group { found, status: "unmatched", present: &self.having(found) };
            let rule = absence(&self.sources, found.present(), found.has_key());
            if self.measures.is_empty() {
                return write(&self.row(&group, None, &rule));
            }
            return found.measures().for_each(|measure| write(&self.row(&group, Some(&measure), &rule)));
        }
        let group = Group { found, status: "outside", present: &self.everyone };
        for measure in found.measures() {
            let Some((first, second)) = measure.pair() else {
                continue;
            };
            let rule = &self.measures[measure.number()].rule;
            let rule = [rule, ": ", &self.sources[first], " against ", &self.sources[second]].concat();
            write(&self.row(&group, Some(&measure), &rule));
        }
    }

    fn row<'a>(
        &'a self,
        group: &Group<'a>,
        shown: Option<&ShownMeasure<'a>>,
        rule: &'a str,
    ) -> Vec<Value<'a>> {
        let measure = shown.map(|shown| &self.measures[shown.number()]);
        let mut row: Vec<Value<'a>> = Vec::with_capacity(self.columns.len());
        row.extend(group.found.key().map(Value::from));
        row.push(Value::Number(group.found.occurrence()));
        row.extend([group.status, group.present].map(Value::Text));
        row.push(measure.map(|measure| measure.name.as_str()).into());
        match shown {
            Some(shown) => row.extend(shown.values().map(Value::from)),
            None => row.extend(self.sources.iter().map(|_| Value::Null)),
        }
        row.push(shown.and_then(ShownMeasure::difference).into());
        row.push(measure.and_then(|measure| measure.tolerance.as_deref()).into());
        row.push(Value::Text(rule));
        row
    }

    /// The sources that have a group.
    fn having(&self, found: &Shown) -> String {
        let names: Vec<&str> = (self.sources.iter().zip(found.present()))
            .filter(|&(_, &has)| has)
            .map(|(name, _)| name.as_str())
            .collect();
        names.join(", ")
    }
}

/// Keys, then the fixed columns around one column per source; a name that is taken gets a suffix.
fn columns(sources: &[String], key: &[String]) -> Vec<Field> {
    let mut taken: Vec<String> = FIXED.map(str::to_owned).to_vec();
    let sources: Vec<String> = (sources.iter()).map(|name| free_name(name, "_source", &mut taken)).collect();
    let key = key.iter().map(|name| free_name(name, "_key", &mut taken));
    let [occurrence, status, present_in, column, rest @ ..] = FIXED.map(str::to_owned);
    let names = key.chain([occurrence, status, present_in, column]).chain(sources).chain(rest);
    let field = |name: String| {
        let data_type = if name == OCCURRENCE { DataType::Int64 } else { DataType::Utf8 };
        Field::new(name, data_type, true)
    };
    names.map(field).collect()
}

fn free_name(name: &str, suffix: &str, taken: &mut Vec<String>) -> String {
    let mut free = name.to_owned();
    while taken.contains(&free) {
        free.push_str(suffix);
    }
    taken.push(free.clone());
    free
}
