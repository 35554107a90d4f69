//! Credentials, which a document only refers to.

use std::fmt;

/// Where a credential is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// An environment variable: `${env:ERP_URL}`.
    Env(String),
    /// A file: `${file:/run/secrets/erp}`.
    File(String),
}

/// A setting that may hold references to credentials; only they are ever shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Setting {
    pieces: Vec<Piece>,
}

#[derive(Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Reference(Reference),
}

/// A setting with its credentials in it, which is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// A text with a reference that is not one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected ${{env:NAME}} or ${{file:PATH}}")]
pub(crate) struct NotReference;

impl Setting {
    pub(crate) fn parse(text: &str) -> Result<Self, NotReference> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("${") {
            let (inside, after) = behind.split_once('}').ok_or(NotReference)?;
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            pieces.push(Piece::Reference(reference(inside).ok_or(NotReference)?));
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Self { pieces })
    }

    /// A path under a folder, if it is relative; where it begins with a reference, only that knows.
    pub(crate) fn under(&self, folder: &str) -> Self {
        let mut pieces = self.pieces.clone();
        match pieces.first_mut() {
            Some(Piece::Text(first)) if !first.starts_with('/') => *first = format!("{folder}/{first}"),
            _ => {}
        }
        Self { pieces }
    }

    /// Whether it is references and nothing else.
    pub(crate) fn is_reference(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, Piece::Reference(_)))
    }

    /// What is written out in it; each reference is a NUL, which no text has.
    pub(crate) fn written_out(&self) -> String {
        let shown = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Reference(_) => "\0".to_owned(),
        };
        self.pieces.iter().map(shown).collect()
    }

    /// As it is in the document, with its references.
    pub(crate) fn to_text(&self) -> String {
        let shown = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Reference(reference) => reference.to_string(),
        };
        self.pieces.iter().map(shown).collect()
    }

    /// The references in it.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Reference(reference) => Some(reference),
            Piece::Text(_) => None,
        })
    }

    /// Puts in what the references stand for; the line end of a file is not part of it.
    pub fn resolve<E>(&self, mut look_up: impl FnMut(&Reference) -> Result<String, E>) -> Result<Secret, E> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Reference(reference @ Reference::File(_)) => {
                    let found = look_up(reference)?;
                    text.push_str(
                        found.strip_suffix('\n').map_or(&*found, |it| it.strip_suffix('\r').unwrap_or(it)),
                    );
                }
                Piece::Reference(reference) => text.push_str(&look_up(reference)?),
            }
        }
        Ok(Secret(text))
    }
}

fn reference(inside: &str) -> Option<Reference> {
    let (kind, name) = inside.split_once(':')?;
    let is_variable = |name: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !name.is_empty() && name.chars().all(is_part) && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    match kind {
        "env" if is_variable(name) => Some(Reference::Env(name.to_owned())),
        "file" if !name.trim().is_empty() && !name.contains(['\0', '{']) => {
            Some(Reference::File(name.to_owned()))
        }
        _ => None,
    }
}

impl Secret {
    /// Keeps a text that was put together of secrets.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself, for whoever opens the connection.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// As it is written in the document.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "${{env:{name}}}"),
            Self::File(path) => write!(f, "${{file:{path}}}"),
        }
    }
}

/// Shows the references and hides the rest, which could hold what should have been one.
impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces.iter().try_for_each(|piece| match piece {
            Piece::Text(_) => f.write_str("…"),
            Piece::Reference(reference) => fmt::Display::fmt(reference, f),
        })
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::{NotReference, Reference, Setting};

    #[test]
    fn references_are_resolved_and_never_shown() {
        let setting = Setting::parse("postgres://${env:ERP_USER}:${file:/run/pw}@host/db").unwrap();
        let secret = setting.resolve(|reference| match reference {
            Reference::Env(name) => Ok(name.to_lowercase()),
            Reference::File(path) if path == "/run/pw" => Ok("hunter2\r\n".to_owned()),
            Reference::File(_) => Err("no such file"),
        });
        let secret = secret.unwrap();
        assert_eq!(secret.expose(), "postgres://erp_user:hunter2@host/db");
        assert_eq!(format!("{secret:?} {setting:?}"), "… …${env:ERP_USER}…${file:/run/pw}…");
    }

    #[test]
    fn what_is_no_reference() {
        for text in [
            "${ERP}",
            "${env:}",
            "${env:A B}",
            "${env:1A}",
            "${vault:x}",
            "${file: }",
            "${env:A",
            "${env:${env:A}}",
        ] {
            assert_eq!(Setting::parse(text), Err(NotReference), "{text}");
        }
    }
}
