//! Paths whose values cannot lead anywhere else.

use std::fmt;

use crate::arguments::Arguments;
use crate::expression::Expression;
use crate::template::{Piece, Template};
use crate::template_error::TemplateError;

/// The path or URL of files, with expressions below the directory or bucket that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathTemplate(Template);

/// What systems take, which also bounds how many values a path has.
const BYTES_MAX: usize = 4096;

const SCHEMES: [&str; 5] = ["s3", "gs", "az", "http", "https"];

impl PathTemplate {
    /// Refuses expressions in the scheme, the host or the bucket, and schemes that nothing reads.
    pub(crate) fn new(template: Template) -> Result<Self, String> {
        let head = match template.pieces().first() {
            Some(Piece::Text(text)) => text.as_str(),
            _ => "",
        };
        if template.to_string().len() > BYTES_MAX {
            return Err(format!("a path has at most {BYTES_MAX} bytes"));
        }
        if template.to_string() == "-" {
            return Err("a job cannot read standard input; name a file".to_owned());
        }
        if let Some((scheme, behind)) = head.split_once("://") {
            if !SCHEMES.contains(&scheme) {
                return Err(format!(
                    "nothing reads {scheme}:// paths; expected one of {}",
                    SCHEMES.join(", ")
                ));
            }
            let (host, _) = behind.split_once('/').unwrap_or((behind, ""));
            if host.is_empty() || (!behind.contains('/') && template.pieces().len() > 1) {
                return Err("the bucket or host has to be written out: a value cannot choose it".to_owned());
            }
        } else if template.to_string().contains("://") {
            return Err("a scheme such as s3:// can only be at the start, written out".to_owned());
        }
        Ok(Self(template))
    }

    /// The same path under a folder; what is absolute or a URL stays as it is.
    pub(crate) fn under(&self, folder: &str) -> Self {
        let text = self.to_string();
        if self.scheme().is_some() || text.starts_with('/') {
            return self.clone();
        }
        Self(self.0.after(folder_before(folder, &text)))
    }

    /// The scheme of a URL; none for a path of this machine.
    pub fn scheme(&self) -> Option<&str> {
        match self.0.pieces().first() {
            Some(Piece::Text(text)) => text.split_once("://").map(|(scheme, _)| scheme),
            _ => None,
        }
    }

    /// Puts in the values of a run, each as plain text within one part of the path.
    pub fn fill(&self, arguments: &Arguments) -> Result<String, TemplateError> {
        let is_url = self.scheme().is_some();
        let mut path = String::new();
        // The last expression in each part of the path: where a part turns out wrong, it is to blame.
        let mut blamed: Vec<(usize, &Expression)> = Vec::new();
        for piece in self.0.pieces() {
            match piece {
                Piece::Text(text) => path.push_str(text),
                Piece::Value(expression) => {
                    let value = expression.evaluate(arguments)?.to_string();
                    check_value(&value, is_url, !path.contains('/'))
                        .map_err(|reason| refused(expression, reason))?;
                    blamed.push((path.matches('/').count(), expression));
                    path.push_str(&value);
                }
            }
        }
        let parts: Vec<&str> = path.split('/').collect();
        for (part, expression) in blamed {
            if matches!(parts[part].trim(), "" | "." | "..") || path == "-" {
                return Err(refused(expression, format!("{:?} is no name of a file or folder", parts[part])));
            }
        }
        Ok(path)
    }
}

/// A relative path under a folder, whose name means itself also where the path has wildcards.
pub fn path_under(folder: &str, path: &str) -> String {
    folder_before(folder, path) + path
}

fn folder_before(folder: &str, path: &str) -> String {
    const WILDCARDS: [char; 3] = ['*', '?', '['];
    let mut before = String::new();
    for c in folder.trim_end_matches('/').chars() {
        if WILDCARDS.contains(&c) && path.contains(WILDCARDS) {
            before.extend(['[', c, ']']);
        } else {
            before.push(c);
        }
    }
    before + "/"
}

fn refused(expression: &Expression, reason: impl Into<String>) -> TemplateError {
    TemplateError::Path { expression: expression.to_string(), reason: reason.into() }
}

/// Refuses what would not be plain text: separators, wildcards, escapes of URLs, and a scheme or drive at the start.
fn check_value(value: &str, is_url: bool, is_first: bool) -> Result<(), String> {
    let leads_away = |c: char| {
        matches!(c, '/' | '\\' | '*' | '?' | '[' | ']' | '{' | '}')
            || c.is_control()
            || (is_url && matches!(c, '%' | '#' | '&'))
            || (is_first && matches!(c, ':' | '~'))
    };
    match value.chars().find(|c| leads_away(*c)) {
        Some(c) => Err(format!("the value has a {c:?}, which would lead elsewhere")),
        None => Ok(()),
    }
}

/// As it is written in the document.
impl fmt::Display for PathTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
