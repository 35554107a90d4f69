//! Makes assumptions about text columns from their first rows, and better ones when a row disproves them.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};

use crate::decode::{Misfit, culprit, plain, shown};
use crate::error::{Error, ValueProblem};
use crate::ingest::{Surprise, read_error};
use crate::kind::Physical;
use crate::number::Number;
use crate::plan::stray::Likenesses;
use crate::plan::survey::Survey;
use crate::plan::{Column, Learnt};
use crate::spec::Source;
use crate::text::Assumption;

/// Rows that a first assumption is made from.
const FIRST_ROWS: usize = 1024;
/// Text that is longer than this on average is read again only where it is shown.
const LONG_BYTES: usize = 16;

/// Looks at the first rows of every text column.
pub(crate) fn first_rows(sources: &[Source<'_>]) -> Result<Learnt, Error> {
    let mut learnt = Learnt::default();
    for (number, source) in sources.iter().enumerate() {
        let schema = source.table.schema();
        let texts: Vec<usize> = (0..schema.fields().len())
            .filter(|index| Physical::of(schema.field(*index).data_type()) == Physical::Text)
            .collect();
        let mut columns: Vec<(String, Likenesses)> = Vec::with_capacity(texts.len());
        for index in &texts {
            let own = schema.field(*index).name();
            let name = source.renames.get(own).unwrap_or(own);
            learnt.assumptions.insert((number, name.clone()), Assumption::default());
            columns.push((name.clone(), Likenesses::default()));
        }
        each_first_batch(source, &texts, |batch| {
            for (at, (name, likenesses)) in columns.iter_mut().enumerate() {
                observe(&mut learnt, number, name, batch, at);
                likenesses.observe(batch, at, 0, 0);
            }
        })?;
        let watched = columns.into_iter().filter(|(_, likenesses)| !likenesses.are_mostly_text());
        learnt.watched.extend(watched.map(|(name, _)| (number, name)));
    }
    Ok(learnt)
}

/// Shows the first rows, as many as there are up to the number that assumptions are made from, batch by batch: they may be long, and
/// are not kept.
fn each_first_batch(
    source: &Source<'_>,
    columns: &[usize],
    mut show: impl FnMut(&RecordBatch),
) -> Result<(), Error> {
    let failed = |error| read_error(source, error);
    let scan = source.table.scan(columns, None).map_err(failed)?;
    let mut left = FIRST_ROWS;
    while let Some(part) = scan.next_part().map_err(failed)? {
        for batch in part.batches {
            let batch = batch.map_err(failed)?;
            let batch = batch.slice(0, batch.num_rows().min(left));
            left -= batch.num_rows();
            show(&batch);
            if left == 0 {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The first rows there are.
pub(crate) fn first_batch(source: &Source<'_>, columns: &[usize]) -> Result<Option<RecordBatch>, Error> {
    let failed = |error| read_error(source, error);
    let scan = source.table.scan(columns, None).map_err(failed)?;
    while let Some(part) = scan.next_part().map_err(failed)? {
        for batch in part.batches {
            let batch = batch.map_err(failed)?;
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
        }
    }
    Ok(None)
}

fn observe(learnt: &mut Learnt, source: usize, name: &str, batch: &RecordBatch, at: usize) {
    let assumption = learnt.assumptions.entry((source, name.to_string())).or_default();
    // Whatever cannot be read now is an error when the column is decoded.
    let Ok(array) = plain(batch.column(at)) else {
        return;
    };
    let Some(texts) = array.as_string_view_opt() else {
        return;
    };
    let bytes: usize = texts.iter().flatten().map(str::len).sum();
    if bytes > LONG_BYTES * texts.len() {
        learnt.long.insert(name.to_string());
    }
    let mut scale = learnt.scales.get(name).copied().unwrap_or(0);
    for text in texts.iter().flatten() {
        assumption.observe(text.as_bytes());
        if let Ok(Number::Finite(decimal)) = Number::parse(text.as_bytes()) {
            scale = scale.max(decimal.exponent().min(0).unsigned_abs());
        }
    }
    learnt.scales.insert(name.to_string(), scale);
}

/// Takes in what a column that did not fit its plan has shown; an error if no plan can make sense of it.
pub(crate) fn learn(learnt: &mut Learnt, survey: &Survey<'_>, surprise: Surprise) -> Result<(), Error> {
    let Surprise { source, column, misfit, values, block } = surprise;
    let planned = &survey.plan.columns[column];
    match misfit {
        Misfit::Scale => {
            learnt.general.insert(planned.name.clone());
            // Other numerals may be as surprising, and starting over once is enough.
            let texts = survey.plan.columns.iter().filter(|column| column.reads_numerals());
            learnt.general.extend(texts.map(|column| column.name.clone()));
        }
        Misfit::Reading(value) => {
            let assumption = learnt.assumptions.entry((source, planned.name.clone())).or_default();
            let before = assumption.reading();
            assumption.observe(&value);
            assert!(
                assumption.reading() != before,
                "starting over without having learnt anything would never end"
            );
            survey.read_ahead(learnt, u64::from(block.first) + u64::from(block.rows))?;
        }
        Misfit::Value(problem) => {
            let (row, value) = culprit(planned, source, &values);
            let place = (block.part, block.offset + row);
            return Err(value_error(&survey.sources[source], planned, place, value, problem)?);
        }
    }
    Ok(())
}

/// The error for a column of dates that may be day first or month first; it names the first of them.
pub(crate) fn unproven_date(source: &Source<'_>, column: &Column, number: usize) -> Result<Error, Error> {
    let failed = |error| read_error(source, error);
    let scan = source.table.scan(&[column.readers[number].index], None).map_err(failed)?;
    while let Some(part) = scan.next_part().map_err(failed)? {
        let mut offset = 0;
        for batch in part.batches {
            let batch = batch.map_err(failed)?;
            let values = batch.column(0);
            if let Some(row) = (0..values.len()).find(|row| values.is_valid(*row)) {
                let (place, value) = ((part.number, offset + row), shown(values, row));
                return value_error(source, column, place, value, ValueProblem::DayOrMonth);
            }
            offset += batch.num_rows();
        }
    }
    Err(Error::Changed { source_name: source.name.clone() })
}

fn value_error(
    source: &Source<'_>,
    column: &Column,
    (part, row): (usize, usize),
    value: String,
    problem: ValueProblem,
) -> Result<Error, Error> {
    let place = source.table.place(part, row).map_err(|error| read_error(source, error))?;
    let (source_name, column) = (source.name.clone(), column.name.clone());
    Ok(Error::Value { source_name, place, column, value, problem })
}
