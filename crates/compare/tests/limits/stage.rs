//! Tables that misbehave on cue, and one call that compares them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use trueup_compare::{
    Break, BreakHeader, BreakSink, Comparison, Error, Limits, Part, Progress, Scan, Selection, Source, Spec,
    Table, TableError, compare, compare_within,
};

/// Rows of a part: enough parts for every thread to get some.
const PART_ROWS: usize = 5_000;

/// A moment in the reading of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Opening,
    /// Before the batch with this number.
    Batch(usize),
    /// For chosen rows only.
    OpeningAgain,
    BatchAgain(usize),
}

/// What happens at each moment.
pub(crate) type Cue<'a> = &'a (dyn Fn(Moment) -> Result<(), TableError> + Sync);

/// A table that acts on cues, and may be another when it is read again.
pub(crate) struct Staged<'a> {
    first: Vec<RecordBatch>,
    again: Vec<RecordBatch>,
    cue: Cue<'a>,
}

impl<'a> Staged<'a> {
    pub(crate) fn new(rows: &RecordBatch, cue: Cue<'a>) -> Self {
        Self::changing(rows, rows, cue)
    }

    pub(crate) fn changing(first: &RecordBatch, again: &RecordBatch, cue: Cue<'a>) -> Self {
        Self { first: parts(first), again: parts(again), cue }
    }
}

fn parts(rows: &RecordBatch) -> Vec<RecordBatch> {
    let starts = (0..rows.num_rows()).step_by(PART_ROWS);
    starts.map(|start| rows.slice(start, PART_ROWS.min(rows.num_rows() - start))).collect()
}

impl Table for Staged<'_> {
    fn schema(&self) -> SchemaRef {
        self.first[0].schema()
    }

    fn rows_hint(&self) -> Option<u64> {
        None
    }

    fn scan<'a>(
        &'a self,
        columns: &[usize],
        only: Option<&'a Selection>,
    ) -> Result<Box<dyn Scan<'a> + 'a>, TableError> {
        (self.cue)(if only.is_some() { Moment::OpeningAgain } else { Moment::Opening })?;
        Ok(Box::new(Reading { table: self, columns: columns.to_vec(), only, next: AtomicUsize::new(0) }))
    }

    fn place(&self, part: usize, row: usize) -> Result<String, TableError> {
        Ok(format!("part {part}, row {row}"))
    }
}

struct Reading<'a> {
    table: &'a Staged<'a>,
    columns: Vec<usize>,
    only: Option<&'a Selection>,
    next: AtomicUsize,
}

impl<'a> Scan<'a> for Reading<'a> {
    fn next_part(&self) -> Result<Option<Part<'a>>, TableError> {
        let parts = if self.only.is_some() { &self.table.again } else { &self.table.first };
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(rows) = parts.get(number) else { return Ok(None) };
            let mut rows = rows.project(&self.columns)?;
            if let Some(only) = self.only {
                let Some(wanted) = only.get(&number) else { continue };
                let is_wanted = |row| row < wanted.len() && wanted.value(row);
                let mask: BooleanArray = (0..rows.num_rows()).map(|row| Some(is_wanted(row))).collect();
                rows = filter_record_batch(&rows, &mask)?;
            }
            let moment = if self.only.is_some() { Moment::BatchAgain } else { Moment::Batch }(number);
            let cue = self.table.cue;
            let batches = std::iter::once_with(move || cue(moment).map(|()| rows));
            return Ok(Some(Part { number, batches: Box::new(batches) }));
        }
    }
}

/// Nothing happens.
pub(crate) const CALM: Cue<'static> = &|_| Ok(());

/// Row by row with the key `id`.
pub(crate) fn by_id() -> Spec {
    Spec { key: vec!["id".into()], limit: 100, ..Spec::default() }
}

fn sources(tables: [&dyn Table; 2]) -> [Source<'_>; 2] {
    [("left", tables[0]), ("right", tables[1])].map(|(name, table)| Source {
        name: name.into(),
        table,
        renames: BTreeMap::new(),
        timezone: None,
        date_formats: BTreeMap::new(),
    })
}

/// What a comparison is run with.
#[derive(Clone, Copy)]
pub(crate) struct Stage<'a> {
    pub spec: &'a Spec,
    pub memory: u64,
    pub threads: usize,
    pub temp_dir: &'a Path,
    pub progress: &'a Progress,
}

impl Stage<'_> {
    /// Compares tables called `left` and `right`, telling of every break.
    pub(crate) fn compare(&self, tables: [&dyn Table; 2], sink: BreakSink<'_>) -> Result<Comparison, Error> {
        self.compare_for(tables, Some(sink))
    }

    fn compare_for(&self, tables: [&dyn Table; 2], sink: Option<BreakSink<'_>>) -> Result<Comparison, Error> {
        compare(&sources(tables), self.spec, &self.limits(), self.progress, sink)
    }

    fn limits(&self) -> Limits {
        Limits { memory: self.memory, threads: self.threads, temp_dir: self.temp_dir.to_owned() }
    }

    /// The comparison within some rows, and those of groups that do not match.
    pub(crate) fn unmatched(
        &self,
        within: Option<&[Selection]>,
        sides: &[RecordBatch; 2],
    ) -> Result<(Comparison, Vec<Selection>), Error> {
        let tables = sides.each_ref().map(|side| Staged::new(side, CALM));
        let sources = sources([&tables[0], &tables[1]]);
        compare_within(&sources, within, self.spec, &self.limits(), self.progress, None)
    }

    /// The comparison alone, for which nobody is told of the breaks.
    pub(crate) fn comparison(&self, sides: &[RecordBatch; 2]) -> Result<Comparison, Error> {
        let tables = sides.each_ref().map(|side| Staged::new(side, CALM));
        self.compare_for([&tables[0], &tables[1]], None)
    }

    /// The comparison and all its breaks.
    pub(crate) fn answer(&self, sides: &[RecordBatch; 2]) -> Result<(Comparison, Vec<Break>), Error> {
        let tables = sides.each_ref().map(|side| Staged::new(side, CALM));
        let mut breaks = Vec::new();
        let mut keep = |_: &BreakHeader, found: &Break| {
            breaks.push(found.clone());
            Ok(())
        };
        let comparison = self.compare([&tables[0], &tables[1]], BreakSink::Each(&mut keep))?;
        Ok((comparison, breaks))
    }
}
