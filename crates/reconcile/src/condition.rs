//! Which rows a filter keeps.
//!
//! Comparisons of a column with a value that cannot fail are decided for a whole batch by Arrow's kernels; everything else row
//! by row and from left to right, so that `kind = 'N' AND amount > 0` reads amounts only where the kind says that there is one.

mod calculate;
mod cell;
mod compile;
mod evaluate;
mod like;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, BooleanArray, Scalar};
use arrow_buffer::BooleanBuffer;
use trueup_compare::Kind;
use trueup_compare::single::Zone;
use trueup_job::{Function, Operator, Relation};

use crate::shape::{MomentReader, Numerals};
use cell::Cell;
use evaluate::Batch;
use like::Pattern;

pub(crate) use compile::compile;

/// What a condition can know of a column.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// Its new name.
    pub(crate) name: String,
    /// What it is by its type, or was declared to be.
    pub(crate) kind: Kind,
    /// How its text becomes that, if it is one.
    pub(crate) reader: Option<Reader>,
    /// Whether its values are of a type that can be told apart at all.
    pub(crate) is_simple: bool,
    /// Whether they are whole numbers of 64 bits.
    pub(crate) is_integer: bool,
}

/// How text becomes a value of another kind.
#[derive(Debug, Clone)]
pub(crate) enum Reader {
    Number(Numerals),
    Truth,
    Moment(MomentReader),
}

/// A condition whose columns are known.
#[derive(Debug)]
pub(crate) struct Condition {
    root: Node,
    /// The columns it looks at, as indices into those known.
    columns: Vec<usize>,
    leaves: Vec<Leaf>,
}

/// A comparison of a column, of those looked at, with a value of its very type.
#[derive(Debug)]
struct Leaf {
    column: usize,
    relation: Relation,
    value: Scalar<ArrayRef>,
}

#[derive(Debug)]
enum Node {
    Constant(Cell<'static>),
    /// Of those looked at.
    Column(usize),
    /// What Arrow has decided.
    Leaf(usize),
    Read {
        text: Box<Node>,
        reader: Reader,
        /// The column, if it is one.
        column: Option<String>,
    },
    /// A time by the wall clock as an instant.
    Zoned(Box<Node>, Arc<Zone>),
    Negative(Box<Node>),
    Calculated(Box<Node>, Operator, Box<Node>),
    Compared(Box<Node>, Relation, Box<Node>),
    Not(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    In {
        node: Box<Node>,
        values: HashSet<Cell<'static>>,
        /// What is in the list and no constant.
        others: Vec<Node>,
        has_null: bool,
    },
    Like {
        text: Box<Node>,
        pattern: Box<Node>,
        escape: Option<char>,
        /// The pattern, if it is a constant.
        ready: Option<Pattern>,
    },
    IsNull(Box<Node>),
    Is(Box<Node>, bool),
    Call(Function, Vec<Node>),
}

/// A value that a condition cannot be decided of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Undecided {
    /// The row in its batch.
    pub(crate) row: usize,
    /// What is wrong with it, and with which value.
    pub(crate) problem: String,
}

impl Condition {
    /// The columns that it looks at, as indices into those known.
    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Says which rows of a batch are kept, given the columns that it looks at: those for which it is true.
    pub(crate) fn kept(&self, columns: &[ArrayRef], rows: usize) -> Result<BooleanBuffer, Undecided> {
        let batch = Batch::new(columns, &self.leaves)?;
        if let Node::Leaf(leaf) = self.root {
            return Ok(truths(batch.leaf(leaf)));
        }
        let mut undecided = None;
        let kept = BooleanBuffer::collect_bool(rows, |row| {
            undecided.is_none()
                && batch.truth(&self.root, row).map_or_else(
                    |problem| {
                        undecided = Some(Undecided { row, problem });
                        false
                    },
                    |truth| truth == Some(true),
                )
        });
        undecided.map_or(Ok(kept), Err)
    }
}

/// Where an array is true, which is neither false nor NULL.
fn truths(array: &BooleanArray) -> BooleanBuffer {
    match array.nulls() {
        Some(nulls) => array.values() & nulls.inner(),
        None => array.values().clone(),
    }
}
