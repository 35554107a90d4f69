//! The columns of a break file and the lines of one break.

use std::io;

use crate::report::{Break, BreakHeader, Cell};

/// The columns that every break file has, besides the key and the sources.
const FIXED: [&str; 6] = ["status", "present_in", "column", "difference", "tolerance", "rule"];

struct Measure {
    name: String,
    /// `EXACT`, or the type and the tolerance: `ABSOLUTE 0.01`.
    rule: String,
}

impl Measure {
    fn tolerance(&self) -> Option<&str> {
        self.rule.split_once(' ').map(|(_, tolerance)| tolerance)
    }
}

/// Turns breaks into lines of text fields.
pub(super) struct Layout {
    columns: Vec<String>,
    sources: Vec<String>,
    measures: Vec<Measure>,
}

impl Layout {
    pub(super) fn new(header: &BreakHeader) -> Self {
        Self {
            columns: columns(&header.sources, &header.key),
            sources: header.sources.clone(),
            measures: (header.measures.iter().cloned()).map(|(name, rule)| Measure { name, rule }).collect(),
        }
    }

    pub(super) fn columns(&self) -> &[String] {
        &self.columns
    }

    pub(super) fn measure_count(&self) -> usize {
        self.measures.len()
    }

    pub(super) fn each_row(
        &self,
        found: &Break,
        mut write: impl FnMut(&[Option<&str>]) -> io::Result<()>,
    ) -> io::Result<()> {
        let present = self.names(found, true);
        if !found.is_outside() {
            let rule = format!("absent from {}", self.names(found, false));
            let mut line = |measure: Option<(&Measure, &Cell)>| {
                write(&self.row(found, "unmatched", &present, measure, None, &rule))
            };
            if self.measures.is_empty() {
                return line(None);
            }
            return self.measures.iter().zip(&found.cells).try_for_each(|measure| line(Some(measure)));
        }
        for (measure, cell) in self.measures.iter().zip(&found.cells) {
            let Some(outside) = &cell.outside else {
                continue;
            };
            let (first, second) = outside.pair;
            let rule = format!("{}: {} against {}", measure.rule, self.sources[first], self.sources[second]);
            let difference = outside.difference.as_deref();
            let measure = Some((measure, cell));
            write(&self.row(found, "outside", &present, measure, difference, &rule))?;
        }
        Ok(())
    }

    fn row<'a>(
        &self,
        found: &'a Break,
        status: &'a str,
        present: &'a str,
        measure: Option<(&'a Measure, &'a Cell)>,
        difference: Option<&'a str>,
        rule: &'a str,
    ) -> Vec<Option<&'a str>> {
        let mut row: Vec<Option<&str>> = Vec::with_capacity(self.columns.len());
        row.extend(found.key.iter().map(Option::as_deref));
        row.extend([Some(status), Some(present)]);
        row.push(measure.map(|(column, _)| column.name.as_str()));
        row.extend((0..self.sources.len()).map(|source| {
            let (_, cell) = measure?;
            cell.values[source].as_ref()?.as_deref()
        }));
        row.push(difference);
        row.push(measure.and_then(|(column, _)| column.tolerance()));
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
    let [status, present_in, column, rest @ ..] = FIXED.map(str::to_owned);
    key.chain([status, present_in, column]).chain(sources).chain(rest).collect()
}

fn free_name(name: &str, suffix: &str, taken: &mut Vec<String>) -> String {
    let mut free = name.to_owned();
    while taken.contains(&free) {
        free.push_str(suffix);
    }
    taken.push(free.clone());
    free
}
