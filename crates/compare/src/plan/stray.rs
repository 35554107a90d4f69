//! Finds the few values that make a column text which would be numbers or dates without them.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;

use crate::decode::{plain, shown};
use crate::error::Error;
use crate::ingest::{Block, read_error};
use crate::plan::{Column, Learnt, Plan};
use crate::progress::Progress;
use crate::report::ColumnReport;
use crate::spec::Source;
use crate::temporal::TemporalKind;
use crate::text::{Likeness, Reading};

/// Of how many values one may be a stray; a single one always may.
const VALUES_PER_STRAY: u64 = 20;

/// Values of one column that look alike.
#[derive(Debug, Clone)]
struct Alike {
    likeness: Likeness,
    count: u64,
    first: Sighted,
}

/// Where a value was first seen; in the order of the table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Sighted {
    part: usize,
    row: usize,
    value: String,
}

/// What the values of a column look like, each by itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Likenesses(Vec<Alike>);

impl Likenesses {
    /// Looks at the text of a column; its first row is at this place.
    pub(crate) fn observe(&mut self, batch: &RecordBatch, column: usize, part: usize, offset: usize) {
        // Whatever cannot be read now is an error when the column is decoded.
        let Ok(array) = plain(batch.column(column)) else {
            return;
        };
        let Some(texts) = array.as_string_view_opt() else {
            return;
        };
        for (row, text) in texts.iter().enumerate() {
            let Some(text) = text else { continue };
            let likeness = Likeness::of(text.as_bytes());
            if let Some(alike) = self.0.iter_mut().find(|alike| alike.likeness == likeness) {
                alike.count += 1;
                continue;
            }
            let first = Sighted { part, row: offset + row, value: shown(&array, row) };
            self.0.push(Alike { likeness, count: 1, first });
        }
    }

    fn merge(&mut self, other: Self) {
        for alike in other.0 {
            match self.0.iter_mut().find(|known| known.likeness == alike.likeness) {
                Some(known) => {
                    known.count += alike.count;
                    known.first = known.first.clone().min(alike.first);
                }
                None => self.0.push(alike),
            }
        }
    }

    fn total(&self) -> u64 {
        self.0.iter().map(|alike| alike.count).sum()
    }

    /// Whether half of the values or more are nothing but text.
    pub(crate) fn are_mostly_text(&self) -> bool {
        let texts = self.0.iter().filter(|alike| alike.likeness == Likeness::Text);
        let texts: u64 = texts.map(|alike| alike.count).sum();
        texts > 0 && texts * 2 >= self.total()
    }

    /// The strays among values that nearly all can be read as one kind.
    fn strays(&self) -> Option<Strays<'_>> {
        let total = self.total();
        let kinds = self.0.iter().flat_map(|alike| alike.likeness.alone());
        let strays = kinds.filter_map(|kind| {
            let others = || self.0.iter().filter(|alike| !alike.likeness.agrees(kind));
            let first = others().map(|alike| &alike.first).min()?;
            Some(Strays { kind, count: others().map(|alike| alike.count).sum(), total, first })
        });
        // Of two orders of day and month that explain as much, the one disproved first; timestamps may be dates, too.
        let fewest = strays.min_by_key(|strays| (strays.count, strays.first, strays.others() == "dates"))?;
        let few = fewest.count <= (total / VALUES_PER_STRAY).max(1);
        (few && total >= fewest.count + 2).then_some(fewest)
    }
}

struct Strays<'a> {
    kind: Likeness,
    count: u64,
    total: u64,
    first: &'a Sighted,
}

impl Strays<'_> {
    fn others(&self) -> &'static str {
        match self.kind {
            Likeness::Number => "numbers",
            Likeness::Boolean => "booleans",
            Likeness::Temporal { kind: TemporalKind::Date, .. } => "dates",
            Likeness::Temporal { kind: TemporalKind::Instant, .. } => "instants",
            Likeness::Temporal { .. } => "timestamps",
            Likeness::Text => "text",
        }
    }

    fn note(&self, source: &Source<'_>) -> Result<String, Error> {
        let Sighted { part, row, value } = self.first;
        let place = source.table.place(*part, *row).map_err(|error| read_error(source, error))?;
        let value = if value.is_empty() { "the empty text".into() } else { format!("`{value}`") };
        let which = if self.count == 1 {
            format!("one value of {}: {value}", self.total)
        } else {
            format!("{} values of {}, the first {value}", self.count, self.total)
        };
        let (name, others) = (&source.name, self.others());
        Ok(format!("text in {name} because of {which} ({place}); all others are {others}"))
    }
}

/// The notes on a column, for which its sources are read anew.
pub(crate) fn notes(
    sources: &[Source<'_>],
    learnt: &Learnt,
    column: &str,
    progress: &Progress,
) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let place = (number, column.to_owned());
        let is_text = learnt.assumptions.get(&place).is_some_and(|it| it.reading() == Reading::Text);
        let schema = source.table.schema();
        let is_it = |own: &String| source.renames.get(own).unwrap_or(own) == column;
        let index = schema.fields().iter().position(|field| is_it(field.name()));
        let Some(index) = index.filter(|_| is_text && learnt.watched.contains(&place)) else {
            continue;
        };
        let failed = |error| read_error(source, error);
        let scan = source.table.scan(&[index], None).map_err(failed)?;
        let mut likenesses = Likenesses::default();
        while let Some(part) = scan.next_part().map_err(failed)? {
            let mut offset = 0;
            for batch in part.batches {
                progress.check()?;
                let batch = batch.map_err(failed)?;
                likenesses.observe(&batch, 0, part.number, offset);
                offset += batch.num_rows();
            }
        }
        notes.extend(likenesses.strays().map(|strays| strays.note(source)).transpose()?);
    }
    Ok(notes)
}

/// What was seen in the columns that are watched, by source and column; nothing is kept of the others.
pub(crate) struct Watch(Vec<Vec<Likenesses>>);

impl Watch {
    pub(crate) fn new(plan: &Plan, sources: usize) -> Self {
        Self(vec![vec![Likenesses::default(); plan.columns.len()]; sources])
    }

    pub(crate) fn observe(&mut self, plan: &Plan, source: usize, batch: &RecordBatch, block: Block) {
        let watched = |(_, column): &(usize, &Column)| column.readers[source].is_watched;
        for (column, _) in plan.columns.iter().enumerate().filter(watched) {
            self.0[source][column].observe(batch, column, block.part, block.offset);
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (likenesses, more) in self.0.iter_mut().flatten().zip(other.0.into_iter().flatten()) {
            likenesses.merge(more);
        }
    }

    /// Adds a note to every column that is text because of a few values.
    pub(crate) fn tell(
        &self,
        sources: &[Source<'_>],
        plan: &Plan,
        reports: &mut [ColumnReport],
    ) -> Result<(), Error> {
        for (source, columns) in sources.iter().zip(&self.0) {
            for (planned, likenesses) in plan.columns.iter().zip(columns) {
                let report = reports.iter_mut().find(|report| report.name == planned.name);
                if let (Some(report), Some(strays)) = (report, likenesses.strays()) {
                    report.notes.push(strays.note(source)?);
                }
            }
        }
        Ok(())
    }
}
