//! The columns of a break file and the lines of one break.

use crate::report::{Break, BreakHeader, Cell};
use crate::spec::Tolerance;

/// The columns that every break file has, besides the key and the sources.
const FIXED: [&str; 7] = ["occurrence", "status", "present_in", "column", "difference", "tolerance", "rule"];

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
            None => tolerance.rule.type_name().to_owned(),
            Some(written) => format!("{} {written}", tolerance.rule.type_name()),
        };
        Self { name: name.to_owned(), tolerance: written, rule }
    }
}

/// Turns breaks into lines of text fields.
pub(super) struct Layout {
    columns: Vec<String>,
    sources: Vec<String>,
    measures: Vec<Measure>,
}

/// What the lines of a break have in common.
struct Group<'a> {
    found: &'a Break,
    occurrence: &'a str,
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
            measures: measures.iter().map(measure).collect(),
        }
    }

    pub(super) fn columns(&self) -> &[String] {
        &self.columns
    }

    pub(super) fn each_row(&self, found: &Break, mut write: impl FnMut(&[Option<&str>])) {
        let (occurrence, present) = (found.occurrence.to_string(), self.names(found, true));
        let status = if found.is_outside() { "outside" } else { "unmatched" };
        let group = Group { found, occurrence: &occurrence, status, present: &present };
        if !found.is_outside() {
            let rule = format!("absent from {}", self.names(found, false));
            let mut line = |measure: Option<(&Measure, &Cell)>| {
                write(&self.row(&group, measure, None, &rule));
            };
            if self.measures.is_empty() {
                return line(None);
            }
            return self.measures.iter().zip(&found.cells).for_each(|measure| line(Some(measure)));
        }
        for (measure, cell) in self.measures.iter().zip(&found.cells) {
            let Some(outside) = &cell.outside else {
                continue;
            };
            let (first, second) = outside.pair;
            let rule =
                [&measure.rule, ": ", &self.sources[first], " against ", &self.sources[second]].concat();
            write(&self.row(&group, Some((measure, cell)), outside.difference.as_deref(), &rule));
        }
    }

    fn row<'a>(
        &self,
        group: &Group<'a>,
        measure: Option<(&'a Measure, &'a Cell)>,
        difference: Option<&'a str>,
        rule: &'a str,
    ) -> Vec<Option<&'a str>> {
        let mut row: Vec<Option<&str>> = Vec::with_capacity(self.columns.len());
        row.extend(group.found.key.iter().map(Option::as_deref));
        row.extend([group.occurrence, group.status, group.present].map(Some));
        row.push(measure.map(|(column, _)| column.name.as_str()));
        row.extend((0..self.sources.len()).map(|source| {
            let (_, cell) = measure?;
            cell.values[source].as_ref()?.as_deref()
        }));
        row.push(difference);
        row.push(measure.and_then(|(column, _)| column.tolerance.as_deref()));
        row.push(Some(rule));
        row
    }

    fn names(&self, found: &Break, present: bool) -> String {
        let names: Vec<&str> = (self.sources.iter().zip(&found.present))
            .filter(|&(_, &has)| has == present)
            .map(|(name, _)| name.as_str())
            .collect();
        names.join(", ")
    }
}

/// Keys, then the fixed columns around one column per source; a name that is taken gets a suffix.
fn columns(sources: &[String], key: &[String]) -> Vec<String> {
    let mut taken: Vec<String> = FIXED.map(str::to_owned).to_vec();
    let sources: Vec<String> = (sources.iter()).map(|name| free_name(name, "_source", &mut taken)).collect();
    let key = key.iter().map(|name| free_name(name, "_key", &mut taken));
    let [occurrence, status, present_in, column, rest @ ..] = FIXED.map(str::to_owned);
    key.chain([occurrence, status, present_in, column]).chain(sources).chain(rest).collect()
}

fn free_name(name: &str, suffix: &str, taken: &mut Vec<String>) -> String {
    let mut free = name.to_owned();
    while taken.contains(&free) {
        free.push_str(suffix);
    }
    taken.push(free.clone());
    free
}
