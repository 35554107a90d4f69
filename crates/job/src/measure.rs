//! What is compared of each group.

use crate::cursor::At;
use crate::shape::{Kind, Shape, optional, required};
use crate::word::words;

words! {
    /// How the rows of a group become one value.
    pub Aggregate {
        /// The exact sum of what is not NULL.
        Sum = "sum",
        /// How many are not NULL, or how many rows there are.
        Count = "count",
        /// How many different values there are.
        CountDistinct = "count_distinct",
        /// The smallest.
        Min = "min",
        /// The largest.
        Max = "max",
        /// The exact ratio of sum and count.
        Avg = "avg",
        /// The value itself, row by row.
        Value = "value",
    }
}

impl Aggregate {
    /// Whether it gives a number whatever the column is.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Sum | Self::Count | Self::CountDistinct | Self::Avg)
    }
}

pub(crate) const MEASURE: Shape = Shape {
    fields: &[
        required("name", Kind::Text, "Its name in every report."),
        required("aggregate", Kind::Word(Aggregate::NAMES), "How the rows of a group become one value."),
        optional(
            "column",
            Kind::Text,
            "The column: by default the name; for `count` all rows, which is `*`.",
        ),
    ],
};

/// The column of a count that counts rows.
pub(crate) const ALL_ROWS: &str = "*";

/// An aggregate of a column within a group.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Measure {
    /// Its name in every report.
    pub name: String,
    /// How the rows of a group become one value.
    pub aggregate: Aggregate,
    /// The column after renaming; `*` counts rows.
    pub column: String,
}

/// Reads the list of measures, each named once.
pub(crate) fn read_all(at: &At<'_>) -> Option<Vec<Measure>> {
    let items = at.items()?;
    let count = items.len();
    let mut measures: Vec<Measure> = Vec::new();
    for item in items {
        let Some(measure) = read(&item) else { continue };
        if measures.iter().any(|known| known.name == measure.name) {
            item.fault(
                format!("there are two measures {:?}", measure.name),
                "give one of them another name".to_owned(),
            );
        }
        measures.push(measure);
    }
    (measures.len() == count).then_some(measures)
}

fn read(at: &At<'_>) -> Option<Measure> {
    let fields = at.fields(&MEASURE)?;
    let name = fields.get("name").and_then(|at| at.text());
    let aggregate: Option<Aggregate> = fields.get("aggregate").and_then(|at| at.word());
    let column = fields.maybe("column", At::text)?;
    let (name, aggregate) = (name?, aggregate?);
    let column = match (column, aggregate) {
        (Some(column), _) => column,
        (None, Aggregate::Count) => ALL_ROWS.to_owned(),
        (None, _) => name.clone(),
    };
    if column == ALL_ROWS && aggregate != Aggregate::Count {
        at.fault(format!("{aggregate} needs a column; only count can do with `*`"), None);
        return None;
    }
    Some(Measure { name, aggregate, column })
}
