//! Reads ahead after a surprise, so that a comparison starts over a few times and not once for every column.

use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};

use crate::decode::plain;
use crate::error::Error;
use crate::ingest::{on_threads, read_error};
use crate::number::Number;
use crate::plan::{Column, How, Learnt, Plan};
use crate::progress::Progress;
use crate::spec::Source;
use crate::text::{Assumption, Reading};

/// How many times as far as the surprise: starting over then costs little beside what has been read already.
const AHEAD: u64 = 4;

/// Reads ahead in all sources.
pub(crate) struct Survey<'a> {
    pub(crate) sources: &'a [Source<'a>],
    pub(crate) plan: &'a Plan,
    pub(crate) threads: usize,
    pub(crate) progress: &'a Progress,
}

/// A text column whose values may still be other than assumed.
#[derive(Clone)]
struct Open {
    column: usize,
    assumption: Assumption,
    /// Values that changed the assumption.
    lessons: Vec<Vec<u8>>,
    /// The most decimals of a numeral, where none has been seen before.
    scale: Option<u32>,
}

impl Survey<'_> {
    /// Learns what the rows up to some way behind the given one hold.
    pub(crate) fn read_ahead(&self, learnt: &mut Learnt, row: u64) -> Result<(), Error> {
        for source in 0..self.sources.len() {
            let open = self.open(learnt, source);
            if open.is_empty() {
                continue;
            }
            for Open { column, lessons, scale, .. } in self.read(source, &open, row.saturating_mul(AHEAD))? {
                let name = &self.plan.columns[column].name;
                let assumption = learnt.assumptions.entry((source, name.clone())).or_default();
                lessons.iter().for_each(|value| assumption.observe(value));
                let known = learnt.scales.entry(name.clone()).or_default();
                *known = scale.unwrap_or(0).max(*known);
            }
        }
        Ok(())
    }

    fn open(&self, learnt: &Learnt, source: usize) -> Vec<Open> {
        let open = |(column, planned): (usize, &Column)| {
            let how = &planned.readers[source].how;
            let may_change = match how {
                How::Null | How::TextNumber | How::TextBoolean | How::TextTemporal(_) => true,
                How::Text(reading) => *reading != Reading::Text,
                How::Typed | How::DeclaredBoolean | How::TextFormat(_) | How::Displayed => false,
            };
            let assumption = learnt.assumptions.get(&(source, planned.name.clone()))?.clone();
            let scale = matches!(how, How::Null).then_some(0);
            may_change.then(|| Open { column, assumption, lessons: Vec::new(), scale })
        };
        self.plan.columns.iter().enumerate().filter_map(open).collect()
    }

    /// What every thread has learnt.
    fn read(&self, source: usize, open: &[Open], rows: u64) -> Result<Vec<Open>, Error> {
        let failed = |error| read_error(&self.sources[source], error);
        let index = |open: &Open| self.plan.columns[open.column].readers[source].index;
        let columns: Vec<usize> = open.iter().map(index).collect();
        let scan = self.sources[source].table.scan(&columns, None).map_err(failed)?;
        let read = AtomicU64::new(0);
        let learnt = on_threads(self.threads, |stop| -> Result<Vec<Open>, Error> {
            let mut open = open.to_vec();
            while let Some(part) = scan.next_part().map_err(failed)? {
                for batch in part.batches {
                    self.progress.check()?;
                    if stop.load(Ordering::Relaxed) {
                        return Err(Error::Cancelled);
                    }
                    let batch = batch.map_err(failed)?;
                    open.iter_mut().zip(batch.columns()).for_each(|(open, values)| open.observe(values));
                    if read.fetch_add(batch.num_rows() as u64, Ordering::Relaxed) >= rows {
                        return Ok(open);
                    }
                }
            }
            Ok(open)
        })?;
        Ok(learnt.into_iter().flatten().collect())
    }
}

impl Open {
    fn observe(&mut self, values: &ArrayRef) {
        if values.null_count() == values.len() {
            return;
        }
        // Whatever cannot be read now is an error when the column is decoded.
        let Ok(array) = plain(values) else {
            return;
        };
        let Some(texts) = array.as_string_view_opt() else {
            return;
        };
        for text in texts.iter().flatten() {
            if !self.assumption.reading().allows(text.as_bytes()) {
                self.assumption.observe(text.as_bytes());
                self.lessons.push(text.as_bytes().to_vec());
            }
            if let Some(scale) = &mut self.scale
                && let Ok(Number::Finite(decimal)) = Number::parse(text.as_bytes())
            {
                *scale = decimal.exponent().min(0).unsigned_abs().max(*scale);
            }
        }
    }
}
