//! SQL whose values are bound, never pasted.

use std::fmt;

use crate::arguments::Arguments;
use crate::template::{Piece, Template};
use crate::template_error::TemplateError;
use crate::value::Value;

/// SQL with expressions in places where values can be bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryTemplate(Template);

/// SQL and the values to bind in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The SQL before each value, and behind the last.
    sql: Vec<String>,
    values: Vec<Value>,
}

impl QueryTemplate {
    /// Refuses expressions inside quotes and comments; in `MySQL` a backslash escapes a quote and `#` starts a comment.
    pub(crate) fn new(template: Template, is_mysql: bool) -> Result<Self, TemplateError> {
        let mut inside = Inside { quote: None, is_mysql };
        for piece in template.pieces() {
            match piece {
                Piece::Text(sql) => inside.read(sql),
                Piece::Value(expression) if inside.quote.is_some() => {
                    return Err(TemplateError::Quoted { expression: expression.to_string() });
                }
                Piece::Value(_) => {}
            }
        }
        Ok(Self(template))
    }

    /// Puts in the values of a run.
    pub fn bind(&self, arguments: &Arguments) -> Result<Query, TemplateError> {
        let mut query = Query { sql: vec![String::new()], values: Vec::new() };
        for piece in self.0.pieces() {
            match piece {
                Piece::Text(sql) => {
                    if let Some(last) = query.sql.last_mut() {
                        last.push_str(sql);
                    }
                }
                Piece::Value(expression) => {
                    query.values.push(expression.evaluate(arguments)?);
                    query.sql.push(String::new());
                }
            }
        }
        Ok(query)
    }
}

impl Query {
    /// The SQL with a placeholder for each value, such as `$1` or `?`; values are numbered from 1.
    pub fn sql(&self, placeholder: impl Fn(usize, &Value) -> String) -> String {
        let mut sql = self.sql[0].clone();
        for (at, (value, behind)) in self.values.iter().zip(&self.sql[1..]).enumerate() {
            sql.push_str(&placeholder(at + 1, value));
            sql.push_str(behind);
        }
        sql
    }

    /// The SQL before each value, and behind the last.
    pub fn pieces(&self) -> &[String] {
        &self.sql
    }

    /// The values to bind, in the order of their placeholders.
    pub fn values(&self) -> &[Value] {
        &self.values
    }
}

/// As it is written in the document.
impl fmt::Display for QueryTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What the end of a piece of SQL is inside of.
struct Inside {
    /// What ends it; `\n` for a comment to the end of the line, `/` for one in slashes.
    quote: Option<char>,
    is_mysql: bool,
}

impl Inside {
    fn read(&mut self, sql: &str) {
        let mut chars = sql.chars().peekable();
        let mut before = [' ', ' '];
        let mut escapes = self.is_mysql;
        while let Some(c) = chars.next() {
            let next = chars.peek().copied();
            match (self.quote, c) {
                (None, '\'' | '"' | '`') => {
                    // PostgreSQL's `E'…'` takes backslashes too.
                    let marked = matches!(before[1], 'e' | 'E') && !before[0].is_alphanumeric();
                    escapes = self.is_mysql || (c == '\'' && marked);
                    self.quote = Some(c);
                }
                (None, '-') if next == Some('-') => self.quote = Some('\n'),
                (None, '#') if self.is_mysql => self.quote = Some('\n'),
                (None, '/') if next == Some('*') => {
                    chars.next();
                    self.quote = Some('/');
                }
                (Some('\'' | '"'), '\\') if escapes => {
                    chars.next();
                }
                (Some('/'), '*') if next == Some('/') => {
                    chars.next();
                    self.quote = None;
                }
                // A doubled quote ends one text and starts the next, which comes to the same.
                (Some(quote), c) if c == quote && quote != '/' => self.quote = None,
                _ => {}
            }
            before = [before[1], c];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{QueryTemplate, Template};

    #[test]
    fn values_are_only_where_they_can_be_bound() {
        let table = [
            ("select {{ today }}", true),
            ("select 'it''s', {{ today }}", true),
            ("select \"a'b\", `c'd`, {{ today }}", true),
            ("select 1 -- it's\n, {{ today }}", true),
            ("select 1 /* it's */ , {{ today }}", true),
            ("select E'it\\'s', {{ today }}", true),
            ("select 'C:\\', {{ today }}", true),
            ("select 1 - {{ today }} / {{ now }}", true),
            ("select '{{ today }}'", false),
            ("select '%{{ today }}%'", false),
            ("select \"{{ today }}\"", false),
            ("select 1 -- {{ today }}", false),
            ("select 1 /* {{ today }} */", false),
            ("select 'it''s {{ today }}'", false),
        ];
        for (sql, good) in table {
            let query = QueryTemplate::new(Template::parse(sql).unwrap(), false);
            assert_eq!(query.is_ok(), good, "{sql}");
        }
        let escaped = Template::parse("select 'it\\'s', {{ today }}").unwrap();
        assert!(QueryTemplate::new(escaped.clone(), true).is_ok());
        assert!(QueryTemplate::new(escaped, false).is_err());
        let commented = Template::parse("select 1 # it's\n, {{ today }}").unwrap();
        assert!(QueryTemplate::new(commented.clone(), true).is_ok());
        assert!(QueryTemplate::new(commented, false).is_err());
    }
}
