//! What a condition on rows says, apart from the SQL that it is written in.

use crate::value::Value;
use crate::word::words;

/// A condition on rows, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term {
    /// A column, by its new name.
    Column(String),
    /// `NULL`.
    Null,
    /// A value that is written out.
    Value(Value),
    /// The template's value with this number, from 0.
    Bound(usize),
    /// `- a`.
    Negative(Box<Term>),
    /// `a + b` and the like.
    Calculated(Box<Term>, Operator, Box<Term>),
    /// `a = b` and the like.
    Compared(Box<Term>, Relation, Box<Term>),
    /// `NOT a`.
    Not(Box<Term>),
    /// `a AND b`.
    And(Box<Term>, Box<Term>),
    /// `a OR b`.
    Or(Box<Term>, Box<Term>),
    /// `a IN (…)`.
    In(Box<Term>, Vec<Term>),
    /// `a LIKE pattern`, perhaps with a character that makes the next one stand for itself.
    Like {
        /// What is looked at.
        text: Box<Term>,
        /// `%` is any text in it, and `_` any character.
        pattern: Box<Term>,
        /// The character behind `ESCAPE`.
        escape: Option<char>,
    },
    /// `a IS NULL`.
    IsNull(Box<Term>),
    /// `a IS TRUE`, or `a IS FALSE`.
    Is(Box<Term>, bool),
    /// A function of some terms, as many as it takes.
    Call(Function, Vec<Term>),
}

/// How two numbers become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
}

/// How two values may stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `=`
    Equal,
    /// `<>`
    Different,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

words! {
    /// What can be called in a condition.
    pub Function {
        /// Text in small letters.
        Lower = "lower",
        /// Text in capital letters.
        Upper = "upper",
        /// Text without spaces at its ends.
        Trim = "trim",
        /// How many characters a text has.
        Length = "length",
        /// Characters of a text, from one on that is counted from 1, to the end or so many.
        Substr = "substr",
        /// The magnitude of a number.
        Abs = "abs",
        /// A number with so many decimals, or none; halves away from 0.
        Round = "round",
        /// The first of some values that is not NULL.
        Coalesce = "coalesce",
    }
}

impl Function {
    /// How many terms it takes, at least and at most.
    pub(crate) fn takes(self) -> (usize, usize) {
        match self {
            Self::Lower | Self::Upper | Self::Trim | Self::Length | Self::Abs => (1, 1),
            Self::Round => (1, 2),
            Self::Substr => (2, 3),
            Self::Coalesce => (1, usize::MAX),
        }
    }
}

impl Term {
    /// Whether it can be true or false, as far as that is known without its columns.
    pub(crate) fn may_hold(&self) -> bool {
        match self {
            Self::Value(value) => matches!(value, Value::Boolean(_)),
            Self::Negative(_) | Self::Calculated(..) => false,
            Self::Call(function, terms) => {
                *function == Function::Coalesce && terms.iter().all(Self::may_hold)
            }
            _ => true,
        }
    }

    /// Finds the columns that it names, each as often as it does.
    pub fn columns(&self) -> Vec<&str> {
        match self {
            Self::Column(name) => vec![name],
            Self::Null | Self::Value(_) | Self::Bound(_) => Vec::new(),
            Self::Negative(term) | Self::Not(term) | Self::IsNull(term) | Self::Is(term, _) => term.columns(),
            Self::Calculated(a, _, b) | Self::Compared(a, _, b) | Self::And(a, b) | Self::Or(a, b) => {
                [a.columns(), b.columns()].concat()
            }
            Self::Like { text, pattern, .. } => [text.columns(), pattern.columns()].concat(),
            Self::In(term, list) => {
                let mut columns = term.columns();
                columns.extend(list.iter().flat_map(Self::columns));
                columns
            }
            Self::Call(_, terms) => terms.iter().flat_map(Self::columns).collect(),
        }
    }
}
