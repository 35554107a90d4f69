//! A job without a comparison: whether it can be carried out, and what its sources are.

use arrow_schema::DataType;
use trueup_compare::Table as _;
use trueup_events::outcome::RunError;

use crate::carry_out::Work;
use crate::failure;
use crate::plan::Plan;

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

/// Opens every source as far as it takes to know its columns: of a query no row is read.
pub fn look(work: &Work<'_>) -> Result<Vec<Looked>, RunError> {
    let plan = Plan::new(work)?;
    let look = |source: &crate::reading::Reading| {
        let opened = source.for_columns().open(&work.limits.temp_dir, &|| false);
        let mut input = opened.map_err(|error| failure::of_opening(&error))?;
        input.declared = source.declared.clone();
        let schema = input.table.schema();
        let types = schema.fields().iter().map(|field| word(field.data_type()));
        let columns = input.columns().into_iter().zip(types).collect();
        Ok(Looked { source: source.name.clone(), described: input.described(), columns })
    };
    plan.sources.iter().map(look).collect()
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
        DataType::Null => "nothing but NULL",
        DataType::Dictionary(_, values) => word(values),
        _ => "text",
    }
}
