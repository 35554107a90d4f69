//! Reads the SQL of a condition, and refuses whatever is not evaluated.

use sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function as Called, FunctionArg, FunctionArgExpr, FunctionArguments,
    Ident, Spanned, TimezoneInfo, TypedString, UnaryOperator, Value as Literal, ValueWithSpan,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer};

use super::{Function, Operator, Relation, Term};
use crate::decimal::{Decimal, DecimalError};
use crate::node::shortened;
use crate::spelling;
use crate::value::{Type, Value};
use crate::word::Word;

/// Parentheses and the like within each other.
const DEPTH_MAX: usize = 50;

/// A chain of operators is as deep as it is long; values in lists do not count.
const SIGNS_MAX: usize = 500;

const TAKEN: &str = "a filter takes comparisons, AND, OR, NOT, IN (…), BETWEEN, LIKE, IS NULL, IS TRUE, IS FALSE, + - * / %, \
                     and lower, upper, trim, length, substr, abs, round and coalesce";

/// Why a condition is refused, and from which byte on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) offset: usize,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

/// Reads a condition; what is in double braces becomes a value with a number.
pub(super) fn parse(text: &str) -> Result<Term, Refused> {
    let (sql, places) = numbered(text);
    let reading = Reading { text, places };
    let mut tokens = Vec::new();
    Tokenizer::new(&PostgreSqlDialect {}, &sql)
        .tokenize_with_location_into_buf(&mut tokens)
        .map_err(|error| reading.refused(error.location, error.message, None))?;
    reading.check(&tokens)?;
    let mut parser =
        Parser::new(&PostgreSqlDialect {}).with_recursion_limit(DEPTH_MAX).with_tokens_with_locations(tokens);
    let expression = parser.parse_expr().map_err(|error| reading.unparsed(error))?;
    let next = parser.peek_token();
    if next.token != Token::EOF {
        let message = format!("expected AND, OR or the end, found {}", shortened(&next.token.to_string()));
        return Err(reading.refused(next.span.start, message, None));
    }
    let term = reading.term(&expression)?;
    if !term.may_hold() {
        return Err(reading.refuse(&expression, "is no condition", "compare it with something".to_owned()));
    }
    Ok(term)
}

/// The text with a numbered placeholder for everything in double braces, as long as that, and where they are.
fn numbered(text: &str) -> (String, Vec<usize>) {
    let (mut sql, mut places) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("{{") {
        sql.push_str(before);
        let (inside, after) = behind.split_once("}}").unwrap_or((behind, ""));
        places.push(text.len() - rest.len() + before.len());
        let placeholder = format!("${}", places.len());
        sql.push_str(&placeholder);
        // Lines and columns stay what they are; what a placeholder is longer than, nobody can write.
        let width = inside.chars().count() + 4;
        let blank = |c: char| if c == '\n' { '\n' } else { ' ' };
        let covered = ["{{", inside, "}}"].concat();
        sql.extend(covered.chars().skip(placeholder.len().min(width)).map(blank));
        rest = after;
    }
    sql.push_str(rest);
    (sql, places)
}

struct Reading<'a> {
    text: &'a str,
    /// Where its values are.
    places: Vec<usize>,
}

impl Reading<'_> {
    fn offset(&self, location: Location) -> usize {
        let line = usize::try_from(location.line.saturating_sub(1)).unwrap_or(usize::MAX);
        let column = usize::try_from(location.column.saturating_sub(1)).unwrap_or(usize::MAX);
        let start: usize = self.text.split_inclusive('\n').take(line).map(str::len).sum();
        let behind = self.text[start..].char_indices().nth(column);
        behind.map_or(self.text.len(), |(at, _)| start + at)
    }

    fn refused(&self, at: Location, message: impl Into<String>, hint: Option<String>) -> Refused {
        Refused { offset: self.offset(at), message: message.into(), hint }
    }

    /// Refuses an expression by what it is written as.
    fn refuse(&self, expression: &Expr, why: &str, hint: impl Into<Option<String>>) -> Refused {
        let Span { start, end } = expression.span();
        let from = self.offset(start);
        let to = closed(self.text, from, self.offset(end));
        let written = self.text.get(from..to).filter(|written| !written.is_empty());
        let shown = written.map_or_else(|| shortened(&expression.to_string()), shortened);
        Refused { offset: from, message: format!("{shown} {why}"), hint: hint.into() }
    }

    fn unsupported(&self, expression: &Expr) -> Refused {
        if let Expr::Cast { .. } = expression {
            let hint = "the `casts` of the source say what its columns are".to_owned();
            return self.refused(
                expression.span().start,
                "casts within a filter are not supported",
                Some(hint),
            );
        }
        self.refuse(expression, "is not supported", TAKEN.to_owned())
    }

    fn unparsed(&self, error: ParserError) -> Refused {
        match error {
            ParserError::RecursionLimitExceeded => {
                let message = format!("it is nested more than {DEPTH_MAX} deep");
                Refused { offset: 0, message, hint: None }
            }
            ParserError::TokenizerError(message) | ParserError::ParserError(message) => {
                let (message, at) = located(&message);
                let message = message.replace("Expected: ", "expected ").replace("found: ", "found ");
                let message = message.replace("found EOF", "found its end");
                self.refused(at, message, None)
            }
        }
    }

    /// Refuses placeholders that the text itself has, and more than can be taken in.
    fn check(&self, tokens: &[TokenWithSpan]) -> Result<(), Refused> {
        let is_sign = |token: &&TokenWithSpan| {
            !matches!(
                token.token,
                Token::Whitespace(_) | Token::Comma | Token::Number(..) | Token::SingleQuotedString(_)
            )
        };
        if let Some(beyond) = tokens.iter().filter(is_sign).nth(SIGNS_MAX) {
            let message = format!("it has more than {SIGNS_MAX} words and signs beside its values");
            let hint = "a list of values is `column IN (…)`".to_owned();
            return Err(self.refused(beyond.span.start, message, Some(hint)));
        }
        let own = tokens.iter().filter(|token| matches!(token.token, Token::Placeholder(_)));
        for token in own {
            if !self.places.contains(&self.offset(token.span.start)) {
                let hint = "a value of the job is {{ params.NAME }}".to_owned();
                let message = format!("{} stands for nothing", token.token);
                return Err(self.refused(token.span.start, message, Some(hint)));
            }
        }
        Ok(())
    }

    fn boxed(&self, expression: &Expr) -> Result<Box<Term>, Refused> {
        self.term(expression).map(Box::new)
    }

    fn terms<'e>(&self, expressions: impl IntoIterator<Item = &'e Expr>) -> Result<Vec<Term>, Refused> {
        expressions.into_iter().map(|expression| self.term(expression)).collect()
    }

    fn term(&self, expression: &Expr) -> Result<Term, Refused> {
        let negated = |negated: bool, term: Term| if negated { Term::Not(Box::new(term)) } else { term };
        Ok(match expression {
            Expr::Identifier(Ident { value, .. }) => Term::Column(value.clone()),
            Expr::CompoundIdentifier(parts) => {
                let name = parts.iter().map(|part| part.value.as_str()).collect::<Vec<_>>().join(".");
                let hint = format!("if that is the name of a column, write \"{name}\"");
                return Err(self.refuse(expression, "has a point in it", hint));
            }
            Expr::Nested(inner) => self.term(inner)?,
            Expr::Value(value) => self.literal(expression, value)?,
            Expr::TypedString(typed) => self.typed(expression, typed)?,
            Expr::IsNull(inner) | Expr::IsUnknown(inner) => Term::IsNull(self.boxed(inner)?),
            Expr::IsNotNull(inner) | Expr::IsNotUnknown(inner) => {
                negated(true, Term::IsNull(self.boxed(inner)?))
            }
            Expr::IsTrue(inner) => Term::Is(self.boxed(inner)?, true),
            Expr::IsNotTrue(inner) => negated(true, Term::Is(self.boxed(inner)?, true)),
            Expr::IsFalse(inner) => Term::Is(self.boxed(inner)?, false),
            Expr::IsNotFalse(inner) => negated(true, Term::Is(self.boxed(inner)?, false)),
            Expr::InList { expr, list, negated: not } => {
                negated(*not, Term::In(self.boxed(expr)?, self.terms(list)?))
            }
            Expr::Between { expr, negated: not, low, high } => {
                let term = self.boxed(expr)?;
                let from = Term::Compared(term.clone(), Relation::AtLeast, self.boxed(low)?);
                let to = Term::Compared(term, Relation::AtMost, self.boxed(high)?);
                negated(*not, Term::And(Box::new(from), Box::new(to)))
            }
            Expr::Like { negated: not, any: false, expr, pattern, escape_char } => {
                let escape = escape_char.as_ref().map(|escape| self.escape(escape)).transpose()?;
                negated(*not, Term::Like { text: self.boxed(expr)?, pattern: self.boxed(pattern)?, escape })
            }
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => Term::Not(self.boxed(expr)?),
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } => Term::Negative(self.boxed(expr)?),
            Expr::UnaryOp { op: UnaryOperator::Plus, expr } => self.term(expr)?,
            Expr::BinaryOp { left, op, right } => self.binary(expression, left, op, right)?,
            _ => self.call(expression)?,
        })
    }

    fn binary(&self, whole: &Expr, left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Term, Refused> {
        let relation = match op {
            BinaryOperator::Eq => Relation::Equal,
            BinaryOperator::NotEq => Relation::Different,
            BinaryOperator::Lt => Relation::Less,
            BinaryOperator::LtEq => Relation::AtMost,
            BinaryOperator::Gt => Relation::Greater,
            BinaryOperator::GtEq => Relation::AtLeast,
            _ => return self.joined(whole, left, op, right),
        };
        Ok(Term::Compared(self.boxed(left)?, relation, self.boxed(right)?))
    }

    fn joined(&self, whole: &Expr, left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Term, Refused> {
        let operator = match op {
            BinaryOperator::And => return Ok(Term::And(self.boxed(left)?, self.boxed(right)?)),
            BinaryOperator::Or => return Ok(Term::Or(self.boxed(left)?, self.boxed(right)?)),
            BinaryOperator::Plus => Operator::Add,
            BinaryOperator::Minus => Operator::Subtract,
            BinaryOperator::Multiply => Operator::Multiply,
            BinaryOperator::Divide => Operator::Divide,
            BinaryOperator::Modulo => Operator::Remainder,
            _ => return Err(self.unsupported(whole)),
        };
        Ok(Term::Calculated(self.boxed(left)?, operator, self.boxed(right)?))
    }

    fn literal(&self, expression: &Expr, literal: &ValueWithSpan) -> Result<Term, Refused> {
        Ok(match &literal.value {
            Literal::Number(digits, false) => Term::Value(Value::Decimal(self.decimal(expression, digits)?)),
            Literal::SingleQuotedString(text) => Term::Value(Value::String(text.clone())),
            Literal::Boolean(truth) => Term::Value(Value::Boolean(*truth)),
            Literal::Null => Term::Null,
            Literal::Placeholder(_) => {
                let at = self.offset(literal.span.start);
                let number = self.places.iter().position(|place| *place == at);
                Term::Bound(number.ok_or_else(|| self.unsupported(expression))?)
            }
            _ => return Err(self.unsupported(expression)),
        })
    }

    /// A number as SQL has it, where a point may stand at either end and zeros in front.
    fn decimal(&self, expression: &Expr, digits: &str) -> Result<Decimal, Refused> {
        let stripped = digits.trim_start_matches('0');
        let zero = if stripped.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "0" };
        let numeral = format!("{zero}{stripped}");
        let numeral = numeral.strip_suffix('.').map_or(numeral.as_str(), |whole| whole).replace(".e", "e");
        numeral.parse().map_err(|error| match error {
            DecimalError::TooLong => self.refuse(expression, "has more than 38 digits", None),
            DecimalError::NotDecimal => self.unsupported(expression),
        })
    }

    /// `DATE '2026-01-31'` and the like.
    fn typed(&self, expression: &Expr, typed: &TypedString) -> Result<Term, Refused> {
        let kind = match &typed.data_type {
            DataType::Date => Type::Date,
            DataType::Time(_, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => Type::Time,
            DataType::Timestamp(_, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => Type::Timestamp,
            DataType::Timestamp(_, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz) => Type::Instant,
            _ => return Err(self.unsupported(expression)),
        };
        let Literal::SingleQuotedString(text) = &typed.value.value else {
            return Err(self.unsupported(expression));
        };
        Value::parse(kind, text).map(Term::Value).map_err(|wrong| {
            self.refused(
                typed.value.span.start,
                format!("{} is no {kind}", shortened(text)),
                Some(wrong.to_string()),
            )
        })
    }

    fn escape(&self, escape: &Expr) -> Result<char, Refused> {
        let mut chars = match escape {
            Expr::Value(ValueWithSpan { value: Literal::SingleQuotedString(text), .. }) => text.chars(),
            _ => "".chars(),
        };
        match (chars.next(), chars.next()) {
            (Some(escape), None) => Ok(escape),
            _ => Err(self.refuse(
                escape,
                "cannot be behind ESCAPE",
                "expected one character in quotes".to_owned(),
            )),
        }
    }

    fn call(&self, expression: &Expr) -> Result<Term, Refused> {
        let (function, arguments) = match expression {
            Expr::Trim { trim_where: None, trim_what: None, expr, trim_characters: None } => {
                (Function::Trim, vec![&**expr])
            }
            Expr::Substring { expr, substring_from, substring_for, .. } => {
                let others = [substring_from, substring_for].into_iter().flatten().map(|it| &**it);
                (Function::Substr, std::iter::once(&**expr).chain(others).collect())
            }
            Expr::Function(called) => self.called(expression, called)?,
            _ => return Err(self.unsupported(expression)),
        };
        let (least, most) = function.takes();
        if !(least..=most).contains(&arguments.len()) {
            let expected = match most {
                usize::MAX => format!("{least} or more"),
                most if most == least => least.to_string(),
                most => format!("{least} or {most}"),
            };
            let why = format!("has {} in parentheses where {function} takes {expected}", arguments.len());
            return Err(self.refuse(expression, &why, None));
        }
        Ok(Term::Call(function, self.terms(arguments)?))
    }

    fn called<'e>(&self, whole: &Expr, called: &'e Called) -> Result<(Function, Vec<&'e Expr>), Refused> {
        let name = called.name.to_string();
        let FunctionArguments::List(list) = &called.args else {
            let hint = format!("if that is the name of a column, write \"{name}\"");
            return Err(self.refuse(whole, "is not supported", hint));
        };
        let function = Function::named(&name.to_lowercase()).ok_or_else(|| {
            let hint = spelling::hint(&name, Function::NAMES.iter().copied());
            self.refuse(whole, "is no function that is known here", hint)
        })?;
        let is_plain = called.filter.is_none()
            && called.over.is_none()
            && called.null_treatment.is_none()
            && called.within_group.is_empty()
            && list.duplicate_treatment.is_none()
            && list.clauses.is_empty();
        let argument = |argument: &'e FunctionArg| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) => Some(argument),
            _ => None,
        };
        let arguments = list.args.iter().map(argument).collect::<Option<Vec<_>>>();
        arguments
            .filter(|_| is_plain)
            .map(|arguments| (function, arguments))
            .ok_or_else(|| self.unsupported(whole))
    }
}

/// The end of a part of a text, with the parentheses that are open there.
fn closed(text: &str, from: usize, to: usize) -> usize {
    let part = text.get(from..to).unwrap_or_default();
    let open = part.matches('(').count().saturating_sub(part.matches(')').count());
    let behind = text.get(to..).unwrap_or_default();
    let last = open.checked_sub(1).and_then(|nth| behind.match_indices(')').nth(nth));
    last.map_or(to, |(at, _)| to + at + 1)
}

/// A message of the parser and the place that it ends with.
fn located(message: &str) -> (&str, Location) {
    let nowhere = Location { line: 1, column: 1 };
    let Some((message, place)) = message.rsplit_once(" at Line: ") else { return (message, nowhere) };
    let place = place.split_once(", Column: ");
    let place = place.and_then(|(line, column)| Some((line.parse().ok()?, column.parse().ok()?)));
    (message, place.map_or(nowhere, |(line, column)| Location { line, column }))
}
