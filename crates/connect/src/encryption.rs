//! What a URL says about encryption, in the words of its database's own clients.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::tls::Trust;

/// A URL that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UrlError(String);

pub(crate) fn refused(problem: impl Into<String>) -> UrlError {
    UrlError(problem.into())
}

/// Whether what is sent is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encryption {
    Never,
    IfOffered,
    Always,
}

/// What the clients of a database call it.
pub(crate) struct Words {
    /// The parameter that says whether to encrypt and whom to trust.
    pub(crate) mode: &'static str,
    /// The parameter with a file of certificates.
    pub(crate) root: &'static str,
    /// The modes, from none at all to the one that asks for the host's name.
    pub(crate) modes: [&'static str; 5],
}

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) mode: Option<String>,
    pub(crate) root: Option<String>,
}

impl Asked {
    /// Takes a parameter of a URL if it is about encryption.
    pub(crate) fn take(&mut self, words: &Words, name: &str, value: &str) -> Result<bool, UrlError> {
        if name == words.mode {
            self.mode = Some(decoded(value)?);
        } else if name == words.root {
            self.root = Some(decoded(value)?);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Says whether to encrypt, and whom to trust.
    pub(crate) fn judge(&self, words: &Words) -> Result<(Encryption, Trust), UrlError> {
        let [disable, prefer, require, verify_ca, verify_full] = words.modes;
        let roots = |root: &String| {
            Trust::read(root.as_ref()).map_err(|problem| refused(format!("{}={root}: {problem}", words.root)))
        };
        let needed = || {
            let mode = self.mode.as_deref().unwrap_or_default();
            let problem =
                format!("{}={mode}: {} has to name a file of certificates to trust", words.mode, words.root);
            self.root.as_ref().ok_or_else(|| refused(problem)).and_then(roots)
        };
        let mode = self.mode.as_deref().unwrap_or(prefer);
        let is = |word: &str| mode.eq_ignore_ascii_case(word);
        if is(disable) {
            Ok((Encryption::Never, Trust::Anyone))
        } else if is(prefer) {
            Ok((Encryption::IfOffered, Trust::Anyone))
        } else if is(require) {
            Ok((Encryption::Always, self.root.as_ref().map_or(Ok(Trust::Anyone), roots)?))
        } else if is(verify_ca) {
            Ok((Encryption::Always, needed()?))
        } else if is(verify_full) {
            Ok((Encryption::Always, needed()?.and_named()))
        } else {
            let problem = format!(
                "{}={mode}: write {disable}, {prefer}, {require}, {verify_ca} or {verify_full}",
                words.mode
            );
            Err(refused(problem))
        }
    }
}

pub(crate) fn decoded(value: &str) -> Result<String, UrlError> {
    let decoded = percent_decode_str(value).decode_utf8().map(Cow::into_owned);
    decoded.map_err(|error| refused(format!("{value:?}: {error}")))
}
