//! A job without a comparison: whether it can be carried out, and what its sources are.

use arrow_schema::{DataType, SchemaRef};
use trueup_compare::{Part, Progress, Scan, Selection, Source, Table, TableError};
use trueup_events::outcome::RunError;

use crate::carry_out::Work;
use crate::failure;
use crate::input::Input;
use crate::plan::Plan;
use crate::reading::Came;

/// What a source would be read as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// Its name.
    pub source: String,
    /// What was detected of it, for people.
    pub described: String,
    /// The new names of its columns, and their types.
    pub columns: Vec<(String, &'static str)>,
}

/// Says what keeps a job from being carried out, as far as that is known before anything is read.
pub fn check(work: &Work<'_>) -> Result<(), RunError> {
    Plan::new(work).map(drop)
}

/// Opens every source as far as it takes to know its columns, of a query without any row, and holds the job against them.
pub fn look(work: &Work<'_>) -> Result<Vec<Looked>, RunError> {
    let plan = Plan::new(work)?;
    let mut inputs = Vec::with_capacity(plan.sources.len());
    for source in &plan.sources {
        let opened = source.open(&work.limits.temp_dir, false, &|| false, &Came::default());
        inputs.push(opened.map_err(|error| failure::of_opening(&error))?);
    }
    let tables: Vec<NoRows> = inputs.iter().map(|input| NoRows(input.table.schema())).collect();
    for stage in &plan.stages {
        let emptied = inputs.iter().zip(&tables).map(|(input, table)| Source { table, ..input.source() });
        let sources: Vec<Source<'_>> = emptied.collect();
        let progress = Progress::new(sources.len());
        let compared = trueup_compare::compare(&sources, &stage.spec, work.limits, &progress, None);
        if let Some(error) = compared.err().and_then(|error| failure::of_comparison(&error)) {
            return Err(error);
        }
    }
    Ok(inputs.iter().map(looked).collect())
}

fn looked(input: &Input) -> Looked {
    let schema = input.table.schema();
    let cast = |index: usize| input.table.shape.as_ref().and_then(|shape| shape.cast_name(index));
    let types = schema.fields().iter().enumerate();
    let types = types.map(|(index, field)| cast(index).unwrap_or_else(|| word(field.data_type())));
    let columns = input.columns().into_iter().zip(types).collect();
    Looked { source: input.name.clone(), described: input.described(), columns }
}

/// The columns of a table, and nothing in them.
struct NoRows(SchemaRef);

impl Table for NoRows {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.0)
    }

    fn rows_hint(&self) -> Option<u64> {
        Some(0)
    }

    fn scan<'a>(
        &'a self,
        _: &[usize],
        _: Option<&'a Selection>,
    ) -> Result<Box<dyn Scan<'a> + 'a>, TableError> {
        Ok(Box::new(NoParts))
    }

    fn place(&self, _: usize, _: usize) -> Result<String, TableError> {
        Err("there are no rows".into())
    }
}

struct NoParts;

impl<'a> Scan<'a> for NoParts {
    fn next_part(&self) -> Result<Option<Part<'a>>, TableError> {
        Ok(None)
    }
}

/// What a type is for people; text is read as what all of it can be read as, which is not known yet.
fn word(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Boolean => "boolean",
        integer if integer.is_integer() => "integer",
        float if float.is_floating() => "float",
        decimal if decimal.is_decimal() => "decimal",
        DataType::Date32 | DataType::Date64 => "date",
        DataType::Time32(_) | DataType::Time64(_) => "time",
        DataType::Timestamp(_, None) => "timestamp",
        DataType::Timestamp(_, Some(_)) => "instant",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            "binary"
        }
        DataType::Null => "known only from its values",
        DataType::Dictionary(_, values) => word(values),
        _ => "text",
    }
}
