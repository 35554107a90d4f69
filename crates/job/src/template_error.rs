//! What can be wrong with a template, when a job is checked or when it runs.

/// Why a template has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A `{{` without its `}}`.
    #[error("`{{{{` is not closed; write {{{{ params.NAME }}}}")]
    Unclosed,
    /// What is between the braces is no expression.
    #[error("`{{{{ {expression} }}}}` is no expression: {reason}")]
    NotExpression {
        /// What is there.
        expression: String,
        /// What was expected.
        reason: String,
    },
    /// The job has no such parameter.
    #[error("`{{{{ {expression} }}}}`: there is no parameter `{name}`; {hint}")]
    UnknownParam {
        /// The expression that names it.
        expression: String,
        /// The name.
        name: String,
        /// What may have been meant.
        hint: String,
    },
    /// The value is of a type that cannot be used so.
    #[error("`{{{{ {expression} }}}}`: {reason}")]
    WrongType {
        /// The expression.
        expression: String,
        /// What was expected.
        reason: String,
    },
    /// The value is no date of a year from 1 to 9999.
    #[error("`{{{{ {expression} }}}}` is outside the years 1 to 9999")]
    OutOfRange {
        /// The expression.
        expression: String,
    },
    /// The value stands in quotes or a comment, where it could not be bound.
    #[error(
        "`{{{{ {expression} }}}}` is inside quotes or a comment; the value is bound, not pasted, so leave them out"
    )]
    Quoted {
        /// The expression.
        expression: String,
    },
    /// The value would change where a path leads.
    #[error("`{{{{ {expression} }}}}` in a path: {reason}")]
    Path {
        /// The expression.
        expression: String,
        /// What was expected.
        reason: String,
    },
}

impl TemplateError {
    /// The part of the text that is wrong; empty if it is not one part.
    pub(crate) fn part(&self) -> &str {
        match self {
            Self::Unclosed => "{{",
            Self::NotExpression { expression, .. }
            | Self::UnknownParam { expression, .. }
            | Self::WrongType { expression, .. }
            | Self::OutOfRange { expression }
            | Self::Quoted { expression }
            | Self::Path { expression, .. } => expression,
        }
    }
}
