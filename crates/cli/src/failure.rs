//! Why `trueup` stops, as the person who called it reads it.

use std::process::ExitCode;

/// The exit code of an error.
pub const FAILED: u8 = 2;
/// The exit code after Ctrl-C.
pub const INTERRUPTED: u8 = 130;

/// Why `trueup` stops.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line does not fit the sources, or itself.
    #[error("{what}")]
    Usage {
        /// What does not fit.
        what: String,
        /// What to write instead.
        hint: Option<String>,
    },
    /// A source cannot be opened.
    #[error(transparent)]
    Open(#[from] trueup_extract::Error),
    /// The comparison cannot be made.
    #[error(transparent)]
    Compare(trueup_compare::Error),
    /// The breaks cannot be written.
    #[error("{what}")]
    Breaks {
        /// Which file, and what the system says.
        what: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The report cannot be written.
    #[error("cannot write the report to {target}: {source}")]
    Report {
        /// Where it was to go.
        target: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// Signals cannot be caught.
    #[error("cannot catch interrupts: {0}")]
    Signals(#[from] ctrlc::Error),
    /// Somebody pressed Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    /// Something wrong with the command line.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::Usage {
            what: what.into(),
            hint: None,
        }
    }

    /// Something wrong with the command line, and what to write instead.
    pub fn usage_hint(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage {
            what: what.into(),
            hint: Some(hint.into()),
        }
    }

    /// Prints the error and says how to exit.
    pub fn report(&self, colours: bool) -> ExitCode {
        let paint = |style: &str, text: &str| {
            if colours {
                format!("\u{1b}[{style}m{text}\u{1b}[0m")
            } else {
                text.to_owned()
            }
        };
        eprintln!("{}: {self}", paint("1;31", "error"));
        if let Some(hint) = self.hint() {
            eprintln!("{}: {hint}", paint("1;36", "hint"));
        }
        ExitCode::from(if matches!(self, Self::Interrupted) {
            INTERRUPTED
        } else {
            FAILED
        })
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Usage { hint, .. } | Self::Breaks { hint, .. } => hint.clone(),
            Self::Compare(error) => error.hint(),
            Self::Report { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                Some("make the directory first".to_owned())
            }
            Self::Open(_) | Self::Report { .. } | Self::Signals(_) | Self::Interrupted => None,
        }
    }
}

impl From<trueup_compare::Error> for Failure {
    fn from(error: trueup_compare::Error) -> Self {
        match error {
            trueup_compare::Error::Cancelled => Self::Interrupted,
            other => Self::Compare(other),
        }
    }
}
