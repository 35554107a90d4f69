//! Text with expressions in it.

use std::fmt;

use crate::arguments::Arguments;
use crate::expression::Expression;
use crate::param::Params;
use crate::template_error::TemplateError;
use crate::value::{Type, Value};

/// Text with expressions in it, such as `{{ params.date }}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Value(Expression),
}

impl Template {
    pub(crate) fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            let (inside, after) = behind.split_once("}}").ok_or(TemplateError::Unclosed)?;
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            pieces.push(Piece::Value(Expression::parse(inside)?));
            rest = after;
        }
        if !rest.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Self { pieces })
    }

    /// The same behind some text.
    pub(crate) fn after(&self, mut text: String) -> Self {
        let mut pieces = self.pieces.clone();
        if let Some(Piece::Text(first)) = pieces.first() {
            text.push_str(first);
            pieces.remove(0);
        }
        pieces.insert(0, Piece::Text(text));
        Self { pieces }
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value(expression) => Some(expression),
            Piece::Text(_) => None,
        })
    }

    /// What it will be: of an expression that stands alone its own type, otherwise text.
    pub(crate) fn check(&self, params: &Params) -> Result<Type, TemplateError> {
        let mut last = Type::String;
        for expression in self.expressions() {
            last = expression.check(params)?;
        }
        Ok(if self.pieces.len() == 1 { last } else { Type::String })
    }

    /// Its value: of an expression that stands alone its own, otherwise the text.
    pub fn evaluate(&self, arguments: &Arguments) -> Result<Value, TemplateError> {
        if let [Piece::Value(expression)] = self.pieces.as_slice() {
            return expression.evaluate(arguments);
        }
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Value(expression) => text.push_str(&expression.evaluate(arguments)?.to_string()),
            }
        }
        Ok(Value::String(text))
    }
}

/// As it is written in the document.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => f.write_str(text)?,
                Piece::Value(expression) => write!(f, "{{{{ {expression} }}}}")?,
            }
        }
        Ok(())
    }
}
