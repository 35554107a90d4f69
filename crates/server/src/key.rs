//! The secret that a key is known by; only its hash is kept.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// What a secret of ours begins with, so that people and scanners know one when they see it.
const MARK: &str = "tu_";
/// How short a secret may be that somebody else made.
const LENGTH_MIN: usize = 32;
/// How long it may be.
const LENGTH_MAX: usize = 256;

/// What a caller shows to say which key is theirs.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// A text that anybody could guess, or that no header can carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key is {LENGTH_MIN} to {LENGTH_MAX} letters, digits or signs, without spaces")]
pub struct WeakSecret;

impl Secret {
    /// Makes one that nobody can guess.
    pub fn random() -> Self {
        Self(format!("{MARK}{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()))
    }

    /// The text itself, to be shown once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it. It has more randomness than a hash could be searched for, so that one round is enough.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(&self.0).into()
    }
}

impl FromStr for Secret {
    type Err = WeakSecret;

    fn from_str(text: &str) -> Result<Self, WeakSecret> {
        let is_long_enough = (LENGTH_MIN..=LENGTH_MAX).contains(&text.len());
        let is_visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_long_enough && is_visible { Ok(Self(text.to_owned())) } else { Err(WeakSecret) }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn secrets_are_read_back_and_never_shown_by_accident() {
        let secret = Secret::random();
        assert_eq!(secret.reveal().parse::<Secret>().unwrap(), secret);
        assert_ne!(secret, Secret::random());
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }

    #[test]
    fn what_is_guessable_or_no_header_is_refused() {
        for text in ["", "hunter2", &"a".repeat(31), &"a".repeat(257), &" a".repeat(20), &"ä".repeat(20)] {
            assert!(text.parse::<Secret>().is_err(), "{text}");
        }
    }
}
