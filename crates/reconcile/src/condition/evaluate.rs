//! What the terms of a condition come to in a row.

use std::borrow::Cow;
use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, StringViewArray};
use arrow_ord::cmp;
use arrow_schema::DataType;
use trueup_compare::Number;
use trueup_compare::single;
use trueup_job::{Function, Operator, Relation};

use super::calculate::{NoResult, calculate, magnitude, negative, rounded, whole};
use super::cell::{Cell, holds};
use super::{Leaf, Node, Pattern, Reader, Undecided};
use crate::shape::text_reader;

/// The columns of a batch that a condition looks at.
pub(super) struct Batch {
    columns: Vec<Values>,
    leaves: Vec<BooleanArray>,
}

enum Values {
    Texts(StringViewArray),
    Truths(BooleanArray),
    Numbers(ArrayRef),
    Moments(ArrayRef),
    /// NULL, or only asked whether it is.
    Other(ArrayRef),
}

impl Batch {
    pub(super) fn new(columns: &[ArrayRef], leaves: &[Leaf]) -> Result<Self, Undecided> {
        let mut plain = Vec::with_capacity(columns.len());
        for column in columns {
            plain.push(single::plain(column).map_err(|problem| first_wrong(column, &problem))?);
        }
        let leaves = leaves.iter().map(|leaf| decide(leaf, &plain[leaf.column])).collect::<Result<_, _>>()?;
        Ok(Self { columns: plain.into_iter().map(Values::of).collect(), leaves })
    }

    pub(super) fn leaf(&self, leaf: usize) -> &BooleanArray {
        &self.leaves[leaf]
    }

    /// What a condition comes to in a row: true, false or not known.
    pub(super) fn truth(&self, node: &Node, row: usize) -> Result<Option<bool>, String> {
        Ok(match node {
            Node::Leaf(leaf) => {
                let leaf = &self.leaves[*leaf];
                leaf.is_valid(row).then(|| leaf.value(row))
            }
            Node::Compared(a, relation, b) => self.order(a, b, row)?.map(|order| holds(*relation, order)),
            Node::Not(node) => self.truth(node, row)?.map(|truth| !truth),
            Node::And(a, b) => self.both(a, b, row, false)?,
            Node::Or(a, b) => self.both(a, b, row, true)?,
            Node::In { node, values, others, has_null } => match self.cell(node, row)? {
                Cell::Null => None,
                cell if values.contains(&cell) => Some(true),
                cell => self.among(&cell, others, *has_null, row)?,
            },
            Node::Like { text, pattern, escape, ready } => {
                match (self.cell(text, row)?, self.cell(pattern, row)?) {
                    (Cell::Text(text), Cell::Text(pattern)) => Some(match ready {
                        Some(ready) => ready.matches(&text),
                        None => Pattern::new(&pattern, *escape).matches(&text),
                    }),
                    _ => None,
                }
            }
            Node::IsNull(node) => Some(match **node {
                Node::Column(column) => self.columns[column].is_null(row),
                ref node => self.cell(node, row)? == Cell::Null,
            }),
            Node::Is(node, truth) => Some(self.truth(node, row)? == Some(*truth)),
            Node::Constant(_)
            | Node::Column(_)
            | Node::Read { .. }
            | Node::Zoned(..)
            | Node::Negative(_)
            | Node::Calculated(..)
            | Node::Call(..) => self.cell(node, row)?.truth(),
        })
    }

    /// What a term comes to in a row, or why it comes to nothing.
    pub(super) fn cell<'a>(&'a self, node: &'a Node, row: usize) -> Result<Cell<'a>, String> {
        Ok(match node {
            Node::Constant(cell) => borrowed(cell),
            Node::Column(column) => self.columns[*column].cell(row)?,
            Node::Read { text, reader, column } => match self.cell(text, row)? {
                Cell::Text(text) => {
                    reader.read(&text).map_err(|problem| told(column.as_deref(), &text, &problem))?
                }
                _ => Cell::Null,
            },
            Node::Zoned(node, zone) => match self.cell(node, row)? {
                Cell::Moment(moment) => Cell::Moment(zone.to_instant(moment)),
                _ => Cell::Null,
            },
            Node::Negative(node) => match self.cell(node, row)? {
                Cell::Number(number) => Cell::Number(negative(number)),
                _ => Cell::Null,
            },
            Node::Calculated(a, operator, b) => match (self.cell(a, row)?, self.cell(b, row)?) {
                (Cell::Number(a), Cell::Number(b)) => calculated(a, *operator, b)?,
                _ => Cell::Null,
            },
            Node::Call(function, nodes) => self.called(*function, nodes, row)?,
            Node::Leaf(_)
            | Node::Compared(..)
            | Node::Not(_)
            | Node::And(..)
            | Node::Or(..)
            | Node::In { .. }
            | Node::Like { .. }
            | Node::IsNull(_)
            | Node::Is(..) => self.truth(node, row)?.into(),
        })
    }

    /// How two values stand to each other; not known if one is NULL.
    fn order(&self, a: &Node, b: &Node, row: usize) -> Result<Option<Ordering>, String> {
        // By far the most common: an amount that is text, and a number.
        if let (
            Node::Read { text, reader: Reader::Number(numerals), column },
            Node::Constant(Cell::Number(b)),
        ) = (a, b)
            && let Node::Column(at) = **text
            && let Values::Texts(texts) = &self.columns[at]
        {
            if texts.is_null(row) {
                return Ok(None);
            }
            let text = texts.value(row);
            let number = text_reader::number(text, *numerals);
            let number = number.map_err(|problem| told(column.as_deref(), text, &problem))?;
            return Ok(Some(number.cmp(b)));
        }
        Ok(self.cell(a, row)?.order(&self.cell(b, row)?))
    }

    /// Two conditions, of which one that is so is enough; the second is looked at only if the first is not.
    fn both(&self, a: &Node, b: &Node, row: usize, enough: bool) -> Result<Option<bool>, String> {
        let first = self.truth(a, row)?;
        if first == Some(enough) {
            return Ok(first);
        }
        let second = self.truth(b, row)?;
        let is_known = first.is_some() || second == Some(enough);
        Ok(second.filter(|_| is_known))
    }

    fn among(
        &self,
        cell: &Cell<'_>,
        others: &[Node],
        has_null: bool,
        row: usize,
    ) -> Result<Option<bool>, String> {
        let mut is_known = !has_null;
        for other in others {
            match self.cell(other, row)? {
                Cell::Null => is_known = false,
                other if other == *cell => return Ok(Some(true)),
                _ => {}
            }
        }
        Ok(is_known.then_some(false))
    }

    fn called<'a>(&'a self, function: Function, nodes: &'a [Node], row: usize) -> Result<Cell<'a>, String> {
        if function == Function::Coalesce {
            for node in nodes {
                match self.cell(node, row)? {
                    Cell::Null => {}
                    cell => return Ok(cell),
                }
            }
            return Ok(Cell::Null);
        }
        let mut cells = Vec::with_capacity(nodes.len());
        for node in nodes {
            cells.push(self.cell(node, row)?);
        }
        let failed = |problem: NoResult| format!("{function} {problem}");
        Ok(match (function, cells.as_mut_slice()) {
            (Function::Lower, [Cell::Text(text)]) => Cell::Text(text.to_lowercase().into()),
            (Function::Upper, [Cell::Text(text)]) => Cell::Text(text.to_uppercase().into()),
            (Function::Trim, [Cell::Text(text)]) => Cell::Text(text.trim_matches(' ').to_owned().into()),
            (Function::Length, [Cell::Text(text)]) => Cell::Number(Number::from(text.chars().count() as u64)),
            (Function::Abs, [Cell::Number(number)]) => Cell::Number(magnitude(*number)),
            (Function::Round, [Cell::Number(number)]) => Cell::Number(rounded(*number, 0)),
            (Function::Round, [Cell::Number(number), Cell::Number(decimals)]) => {
                let decimals = i32::try_from(whole(*decimals).map_err(failed)?);
                Cell::Number(rounded(*number, decimals.map_err(|_| failed(NoResult::NotWhole))?))
            }
            (Function::Substr, [Cell::Text(text), Cell::Number(from)]) => {
                Cell::Text(part(text, whole(*from).map_err(failed)?, i64::MAX).into())
            }
            (Function::Substr, [Cell::Text(text), Cell::Number(from), Cell::Number(count)]) => {
                let count = whole(*count).ok().filter(|count| *count >= 0).ok_or(NoResult::NotWhole);
                Cell::Text(part(text, whole(*from).map_err(failed)?, count.map_err(failed)?).into())
            }
            _ => Cell::Null,
        })
    }
}

impl Values {
    fn of(array: ArrayRef) -> Self {
        match array.data_type() {
            DataType::Utf8View => Self::Texts(array.as_string_view().clone()),
            DataType::Boolean => Self::Truths(array.as_boolean().clone()),
            DataType::Int64 | DataType::Float32 | DataType::Float64 | DataType::Decimal128(..) => {
                Self::Numbers(array)
            }
            DataType::Date32 | DataType::Timestamp(..) | DataType::Time64(_) => Self::Moments(array),
            _ => Self::Other(array),
        }
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Texts(texts) => texts.is_null(row),
            Self::Truths(truths) => truths.is_null(row),
            Self::Numbers(array) | Self::Moments(array) => array.is_null(row),
            // An array of nothing but NULL has no bits that say so.
            Self::Other(array) => array.is_null(row) || array.data_type() == &DataType::Null,
        }
    }

    fn cell(&self, row: usize) -> Result<Cell<'_>, String> {
        if self.is_null(row) {
            return Ok(Cell::Null);
        }
        Ok(match self {
            Self::Texts(texts) => Cell::Text(Cow::Borrowed(texts.value(row))),
            Self::Truths(truths) => Cell::Truth(truths.value(row)),
            Self::Numbers(array) => {
                Cell::Number(single::number(array, row).ok_or("a number has more than 38 digits")?)
            }
            Self::Moments(array) => single::moment(array, row).map_or(Cell::Null, Cell::Moment),
            Self::Other(_) => Cell::Null,
        })
    }
}

impl Reader {
    pub(super) fn read(&self, text: &str) -> Result<Cell<'static>, text_reader::NotRead> {
        Ok(match self {
            Self::Number(numerals) => Cell::Number(text_reader::number(text, *numerals)?),
            Self::Truth => Cell::Truth(text_reader::truth(text)?),
            Self::Moment(reader) => Cell::Moment(reader.read(text)?),
        })
    }
}

fn decide(leaf: &Leaf, column: &ArrayRef) -> Result<BooleanArray, Undecided> {
    let decided = match leaf.relation {
        Relation::Equal => cmp::eq(column, &leaf.value),
        Relation::Different => cmp::neq(column, &leaf.value),
        Relation::Less => cmp::lt(column, &leaf.value),
        Relation::AtMost => cmp::lt_eq(column, &leaf.value),
        Relation::Greater => cmp::gt(column, &leaf.value),
        Relation::AtLeast => cmp::gt_eq(column, &leaf.value),
    };
    decided.map_err(|error| Undecided { row: 0, problem: error.to_string() })
}

/// The first row whose value cannot be brought into a plain type, given that there is one.
fn first_wrong(column: &ArrayRef, problem: &trueup_compare::ValueProblem) -> Undecided {
    let is_wrong = |row: &usize| single::plain(&column.slice(*row, 1)).is_err();
    let row = (0..column.len()).find(is_wrong).unwrap_or_default();
    Undecided { row, problem: format!("a value {problem}") }
}

fn calculated(a: Number, operator: Operator, b: Number) -> Result<Cell<'static>, String> {
    let sign = match operator {
        Operator::Add => '+',
        Operator::Subtract => '-',
        Operator::Multiply => '*',
        Operator::Divide => '/',
        Operator::Remainder => '%',
    };
    calculate(a, operator, b).map(Cell::Number).map_err(|error| format!("{a} {sign} {b} {error}"))
}

/// So many characters of a text from one on, counted from 1; those before the first count, and are not there.
fn part(text: &str, from: i64, count: i64) -> String {
    let start = from.saturating_sub(1);
    let end = usize::try_from(start.saturating_add(count)).unwrap_or(0);
    let start = usize::try_from(start).unwrap_or(0);
    text.chars().take(end).skip(start).collect()
}

fn borrowed<'a>(cell: &'a Cell<'static>) -> Cell<'a> {
    match cell {
        Cell::Text(text) => Cell::Text(Cow::Borrowed(text)),
        Cell::Null => Cell::Null,
        Cell::Truth(truth) => Cell::Truth(*truth),
        Cell::Number(number) => Cell::Number(*number),
        Cell::Moment(moment) => Cell::Moment(*moment),
    }
}

fn told(column: Option<&str>, text: &str, problem: &text_reader::NotRead) -> String {
    let column = column.map(|column| format!("column `{column}`: ")).unwrap_or_default();
    format!("{column}`{}` {problem}", text_reader::shown(text))
}
