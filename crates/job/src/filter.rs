//! Which rows of a source count: a condition in SQL.

mod parse;
mod term;

use std::fmt;

use crate::arguments::Arguments;
use crate::cursor::At;
use crate::query::QueryTemplate;
use crate::template_error::TemplateError;
use crate::value::Value;

pub use term::{Function, Operator, Relation, Term};

/// A condition on rows, with expressions in places where values can be bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    template: QueryTemplate,
    condition: Term,
}

impl Filter {
    /// What it says; the values in it are numbered.
    pub fn condition(&self) -> &Term {
        &self.condition
    }

    /// The values of a run, by their numbers.
    pub fn values(&self, arguments: &Arguments) -> Result<Vec<Value>, TemplateError> {
        Ok(self.template.bind(arguments)?.values().to_vec())
    }
}

/// As it is written in the document.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.template.fmt(f)
    }
}

/// Reads a condition, once its template is known to be right.
pub(crate) fn read(at: &At<'_>, template: QueryTemplate) -> Option<Filter> {
    let text = at.text()?;
    match parse::parse(&text) {
        Ok(condition) => Some(Filter { template, condition }),
        Err(refused) => {
            at.fault_from(&text, refused.offset, refused.message, refused.hint);
            None
        }
    }
}
