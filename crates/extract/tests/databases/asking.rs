//! Asks databases, and shows what they answer as text.

use arrow_array::{Array, ArrayRef};
use arrow_cast::display::array_value_to_string;
use trueup_extract::{Database, Engine, Error, Query, Selection, Table, Value};

pub(crate) fn ask(
    engine: Engine,
    url: &str,
    query: &Query,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Table, Error> {
    let temp_dir = std::env::temp_dir();
    Database { engine, url, place: "erp", temp_dir: &temp_dir, has_rows: true, is_stopped, tell: &|_| () }
        .query(query)
}

/// A query without values.
pub(crate) fn sql(text: &str) -> Query {
    Query { pieces: vec![text.to_owned()], values: Vec::new() }
}

/// A query whose start asks for a number, with further conditions that hold of values only if they are bound.
pub(crate) fn bound(start: &str, more: &[(&str, Value)]) -> Query {
    let conditions = [
        (start, Value::Integer(7)),
        (" and date '2026-01-31' = ", Value::Text("2026-01-31".to_owned())),
        (" and 'x''); drop table t; --' = ", Value::Text("x'); drop table t; --".to_owned())),
    ];
    let conditions = || conditions.iter().chain(more);
    let pieces = conditions().map(|(piece, _)| *piece).chain([" -- all"]).map(str::to_owned);
    Query { pieces: pieces.collect(), values: conditions().map(|(_, value)| value.clone()).collect() }
}

/// The values of every row, or of the chosen ones.
pub(crate) fn values(table: &Table, only: Option<&Selection>) -> Result<Vec<Vec<String>>, Error> {
    let columns: Vec<usize> = (0..table.schema().fields().len()).collect();
    let scan = table.scan(&columns, only)?;
    let mut rows = Vec::new();
    while let Some(part) = scan.next_part()? {
        for batch in part.batches {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                let value = |column: &ArrayRef| {
                    let is_null = column.logical_nulls().is_some_and(|nulls| nulls.is_null(row));
                    if is_null { "NULL".to_owned() } else { array_value_to_string(column, row).unwrap() }
                };
                rows.push(batch.columns().iter().map(value).collect());
            }
        }
    }
    Ok(rows)
}
