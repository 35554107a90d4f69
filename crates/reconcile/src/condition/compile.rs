//! Holds a condition against the columns of its source: what each part is, and how text in it is read.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, Scalar, StringViewArray};
use trueup_compare::single::{self, TemporalKind, Zone};
use trueup_compare::{Kind, Number};
use trueup_job::{Function, Relation, Term, Value};

use super::cell::Cell;
use super::evaluate::Batch;
use super::like::Pattern;
use super::{Condition, Known, Leaf, Node, Reader};
use crate::shape::{MomentReader, Numerals, no_such_column};

/// Compiles a condition over the columns of a source, with the values of a run; says why if it means nothing there.
pub(crate) fn compile(
    term: &Term,
    values: &[Value],
    known: &[Known],
    numerals: Numerals,
    zone: Option<Arc<Zone>>,
) -> Result<Condition, String> {
    let mut compiler = Compiler { values, known, numerals, zone, columns: Vec::new(), leaves: Vec::new() };
    let root = compiler.term(term)?;
    let root = compiler.read_as(root, Kind::Boolean)?;
    Ok(Condition { root, columns: compiler.columns, leaves: compiler.leaves })
}

struct Compiler<'a> {
    values: &'a [Value],
    known: &'a [Known],
    numerals: Numerals,
    zone: Option<Arc<Zone>>,
    columns: Vec<usize>,
    leaves: Vec<Leaf>,
}

/// A term, what it is, and what to call it.
struct Typed {
    node: Node,
    kind: Kind,
    name: String,
}

impl Compiler<'_> {
    fn term(&mut self, term: &Term) -> Result<Typed, String> {
        let (node, kind) = match term {
            Term::Column(name) => return self.column(name),
            Term::Null => (Node::Constant(Cell::Null), Kind::Null),
            Term::Value(value) => return constant(value),
            Term::Bound(number) => {
                return constant(self.values.get(*number).ok_or("a value of the template is missing")?);
            }
            Term::Negative(term) => (Node::Negative(self.boxed(term, Kind::Number)?), Kind::Number),
            Term::Calculated(a, operator, b) => {
                let (a, b) = (self.boxed(a, Kind::Number)?, self.boxed(b, Kind::Number)?);
                (Node::Calculated(a, *operator, b), Kind::Number)
            }
            Term::Compared(a, relation, b) => (self.compared(a, *relation, b)?, Kind::Boolean),
            Term::Not(term) => (Node::Not(self.boxed(term, Kind::Boolean)?), Kind::Boolean),
            Term::And(a, b) => {
                (Node::And(self.boxed(a, Kind::Boolean)?, self.boxed(b, Kind::Boolean)?), Kind::Boolean)
            }
            Term::Or(a, b) => {
                (Node::Or(self.boxed(a, Kind::Boolean)?, self.boxed(b, Kind::Boolean)?), Kind::Boolean)
            }
            Term::In(term, list) => (self.among(term, list)?, Kind::Boolean),
            Term::Like { text, pattern, escape } => {
                let (text, pattern) = (self.boxed(text, Kind::Text)?, self.boxed(pattern, Kind::Text)?);
                let ready = match &*pattern {
                    Node::Constant(Cell::Text(pattern)) => Some(Pattern::new(pattern, *escape)),
                    _ => None,
                };
                (Node::Like { text, pattern, escape: *escape, ready }, Kind::Boolean)
            }
            Term::IsNull(term) => (Node::IsNull(Box::new(self.unread(term)?)), Kind::Boolean),
            Term::Is(term, truth) => (Node::Is(self.boxed(term, Kind::Boolean)?, *truth), Kind::Boolean),
            Term::Call(function, terms) => return self.called(*function, terms),
        };
        Ok(Typed { node, kind, name: "it".into() })
    }

    fn boxed(&mut self, term: &Term, kind: Kind) -> Result<Box<Node>, String> {
        let typed = self.term(term)?;
        self.read_as(typed, kind).map(Box::new)
    }

    fn found(&self, name: &str) -> Result<usize, String> {
        self.known.iter().position(|known| known.name == name).ok_or_else(|| {
            no_such_column(name, &self.known.iter().map(|known| known.name.clone()).collect::<Vec<_>>())
        })
    }

    /// The column as one of those looked at.
    fn looked_at(&mut self, index: usize) -> usize {
        self.columns.iter().position(|column| *column == index).unwrap_or_else(|| {
            self.columns.push(index);
            self.columns.len() - 1
        })
    }

    fn column(&mut self, name: &str) -> Result<Typed, String> {
        let index = self.found(name)?;
        let known = &self.known[index];
        if !known.is_simple || known.kind == Kind::Binary {
            return Err(format!("`{name}` is neither text, a number, a truth value, a date nor a time"));
        }
        let (kind, reader) = (known.kind, known.reader.clone());
        let node = Node::Column(self.looked_at(index));
        let node = match reader {
            Some(reader) => Node::Read { text: Box::new(node), reader, column: Some(name.to_owned()) },
            None => node,
        };
        Ok(Typed { node, kind, name: format!("`{name}`") })
    }

    /// What is only asked whether it is NULL, so that a column need not be read as anything.
    fn unread(&mut self, term: &Term) -> Result<Node, String> {
        match term {
            Term::Column(name) => {
                let index = self.found(name)?;
                Ok(Node::Column(self.looked_at(index)))
            }
            term => Ok(self.term(term)?.node),
        }
    }

    fn compared(&mut self, a: &Term, relation: Relation, b: &Term) -> Result<Node, String> {
        let (a, b) = (self.term(a)?, self.term(b)?);
        let kind = common(&[&a, &b])?;
        let (a, b) = (self.read_as(a, kind)?, self.read_as(b, kind)?);
        let leaf = match (&a, &b) {
            (Node::Column(column), Node::Constant(value)) => self.leaf(*column, relation, value),
            (Node::Constant(value), Node::Column(column)) => self.leaf(*column, turned(relation), value),
            _ => None,
        };
        Ok(match leaf {
            Some(leaf) => {
                self.leaves.push(leaf);
                Node::Leaf(self.leaves.len() - 1)
            }
            None => Node::Compared(Box::new(a), relation, Box::new(b)),
        })
    }

    /// A comparison that Arrow can decide: of text with text, or of whole numbers with a whole number.
    fn leaf(&self, column: usize, relation: Relation, value: &Cell<'static>) -> Option<Leaf> {
        let array: ArrayRef = match value {
            Cell::Text(text) => Arc::new(StringViewArray::from(vec![text.as_ref()])),
            Cell::Number(Number::Finite(decimal)) if self.known[self.columns[column]].is_integer => {
                Arc::new(Int64Array::from(vec![decimal.units(0)?]))
            }
            _ => return None,
        };
        Some(Leaf { column, relation, value: Scalar::new(array) })
    }

    fn among(&mut self, term: &Term, list: &[Term]) -> Result<Node, String> {
        let term = self.term(term)?;
        let mut items = Vec::with_capacity(list.len());
        for item in list {
            items.push(self.term(item)?);
        }
        let kind = common(&std::iter::once(&term).chain(&items).collect::<Vec<_>>())?;
        let (mut values, mut others, mut has_null) = (HashSet::new(), Vec::new(), false);
        for item in items {
            match self.read_as(item, kind)? {
                Node::Constant(Cell::Null) => has_null = true,
                Node::Constant(cell) => drop(values.insert(cell)),
                other => others.push(other),
            }
        }
        Ok(Node::In { node: Box::new(self.read_as(term, kind)?), values, others, has_null })
    }

    fn called(&mut self, function: Function, terms: &[Term]) -> Result<Typed, String> {
        let mut typed = Vec::with_capacity(terms.len());
        for term in terms {
            typed.push(self.term(term)?);
        }
        let (first, others, kind) = match function {
            Function::Lower | Function::Upper | Function::Trim | Function::Substr => {
                (Kind::Text, Kind::Number, Kind::Text)
            }
            Function::Length => (Kind::Text, Kind::Number, Kind::Number),
            Function::Abs | Function::Round => (Kind::Number, Kind::Number, Kind::Number),
            Function::Coalesce => {
                let kind = common(&typed.iter().collect::<Vec<_>>())?;
                (kind, kind, kind)
            }
        };
        let mut nodes = Vec::with_capacity(typed.len());
        for (number, term) in typed.into_iter().enumerate() {
            nodes.push(self.read_as(term, if number == 0 { first } else { others })?);
        }
        Ok(Typed { node: Node::Call(function, nodes), kind, name: format!("{function}(…)") })
    }

    /// A term as a kind that it is, or that its text can be read as.
    fn read_as(&self, term: Typed, kind: Kind) -> Result<Node, String> {
        let Typed { node, kind: own, name } = term;
        match (own, kind) {
            (own, kind) if own == kind => Ok(node),
            (Kind::Null, _) | (Kind::Date, Kind::Timestamp) => Ok(node),
            (Kind::Date | Kind::Timestamp, Kind::Instant) => {
                let missing = || format!("{name} carries no zone; declare the `timezone` of the source");
                let zone = self.zone.clone().ok_or_else(missing)?;
                settled(Node::Zoned(Box::new(node), zone))
            }
            (Kind::Text, _) => {
                let reader = self.reader(kind).ok_or_else(|| disagree(&name, own, kind))?;
                let column = match &node {
                    Node::Column(column) => Some(self.known[self.columns[*column]].name.clone()),
                    _ => None,
                };
                settled(Node::Read { text: Box::new(node), reader, column })
            }
            _ => Err(disagree(&name, own, kind)),
        }
    }

    fn reader(&self, kind: Kind) -> Option<Reader> {
        let kind = match kind {
            Kind::Number => return Some(Reader::Number(self.numerals)),
            Kind::Boolean => return Some(Reader::Truth),
            Kind::Date => TemporalKind::Date,
            Kind::Timestamp => TemporalKind::Timestamp,
            Kind::Instant => TemporalKind::Instant,
            Kind::Time => TemporalKind::Time,
            Kind::Null | Kind::Text | Kind::Binary => return None,
        };
        Some(Reader::Moment(MomentReader { kind, format: None, zone: self.zone.clone() }))
    }
}

/// What comes to the same in every row is found out once.
fn settled(node: Node) -> Result<Node, String> {
    let (Node::Read { text: inner, .. } | Node::Zoned(inner, _)) = &node else { return Ok(node) };
    if !matches!(**inner, Node::Constant(_)) {
        return Ok(node);
    }
    let no_rows = Batch::new(&[], &[]).map_err(|undecided| undecided.problem)?;
    let cell = no_rows.cell(&node, 0)?;
    Ok(Node::Constant(match cell {
        Cell::Text(text) => Cell::Text(text.into_owned().into()),
        Cell::Null => Cell::Null,
        Cell::Truth(truth) => Cell::Truth(truth),
        Cell::Number(number) => Cell::Number(number),
        Cell::Moment(moment) => Cell::Moment(moment),
    }))
}

/// A value that was written out or bound.
fn constant(value: &Value) -> Result<Typed, String> {
    let text = value.to_string();
    let (cell, kind) = match value {
        Value::String(text) => (Some(Cell::Text(text.clone().into())), Kind::Text),
        Value::Integer(number) => (Some(Cell::Number(Number::from(*number))), Kind::Number),
        Value::Decimal(_) => (text.parse().ok().map(Cell::Number), Kind::Number),
        Value::Boolean(truth) => (Some(Cell::Truth(*truth)), Kind::Boolean),
        Value::Time(_) => (single::of_clock(text.as_bytes()).map(Cell::Moment), Kind::Time),
        Value::Date(_) => (moment(&text), Kind::Date),
        Value::Timestamp(_) => (moment(&text), Kind::Timestamp),
        Value::Instant(_) => (moment(&text), Kind::Instant),
    };
    let cell = cell.ok_or_else(|| format!("{text} is out of range"))?;
    Ok(Typed { node: Node::Constant(cell), kind, name: text })
}

fn moment(text: &str) -> Option<Cell<'static>> {
    single::year_first(text.as_bytes()).map(|(moment, _)| Cell::Moment(moment))
}

/// The kind that all terms can be compared as.
fn common(terms: &[&Typed]) -> Result<Kind, String> {
    let typed = |kinds: &[Kind]| {
        terms
            .iter()
            .copied()
            .find(|term| !matches!(term.kind, Kind::Null | Kind::Text) && !kinds.contains(&term.kind))
    };
    let has_text = terms.iter().any(|term| term.kind == Kind::Text);
    let Some(first) = typed(&[]) else {
        return Ok(if has_text { Kind::Text } else { Kind::Null });
    };
    let Some(other) = typed(&[first.kind]) else {
        // Text beside a date may be a date with a time, of which only midnight is that date.
        return Ok(if has_text && first.kind == Kind::Date { Kind::Timestamp } else { first.kind });
    };
    let days = [Kind::Date, Kind::Timestamp, Kind::Instant];
    let has = |kind: Kind| terms.iter().any(|term| term.kind == kind);
    match typed(&days) {
        None if has(Kind::Instant) => Ok(Kind::Instant),
        None => Ok(Kind::Timestamp),
        Some(_) => Err(format!(
            "{} is {} and {} is {}: they cannot be compared",
            first.name,
            word(first.kind),
            other.name,
            word(other.kind)
        )),
    }
}

fn disagree(name: &str, own: Kind, wanted: Kind) -> String {
    let hint = match (own, wanted) {
        (Kind::Number, Kind::Boolean) => "; write a comparison, or cast a column to boolean",
        (_, Kind::Text) => "; cast a column to string",
        _ => "",
    };
    format!("{name} is {} where {} is expected{hint}", word(own), word(wanted))
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "NULL",
        Kind::Number => "a number",
        Kind::Boolean => "a truth value",
        Kind::Date => "a date",
        Kind::Timestamp => "a timestamp",
        Kind::Instant => "an instant",
        Kind::Time => "a time",
        Kind::Text => "text",
        Kind::Binary => "binary",
    }
}

/// The relation of two values the other way round.
fn turned(relation: Relation) -> Relation {
    match relation {
        Relation::Less => Relation::Greater,
        Relation::AtMost => Relation::AtLeast,
        Relation::Greater => Relation::Less,
        Relation::AtLeast => Relation::AtMost,
        same => same,
    }
}
