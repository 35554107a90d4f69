//! `LIKE`: texts by a pattern.

use std::str::Chars;

/// A pattern, ready to be matched.
#[derive(Debug)]
pub(crate) struct Pattern(Vec<Part>);

#[derive(Debug)]
enum Part {
    /// `%`: any text.
    Any,
    /// `_`: any character.
    One,
    Character(char),
}

impl Pattern {
    /// Reads a pattern; the character behind an escape stands for itself.
    pub(crate) fn new(pattern: &str, escape: Option<char>) -> Self {
        let mut parts = Vec::new();
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            parts.push(match c {
                // An escape at the end has nothing to stand before, so it stands for itself.
                c if Some(c) == escape => Part::Character(chars.next().unwrap_or(c)),
                '%' => Part::Any,
                '_' => Part::One,
                c => Part::Character(c),
            });
        }
        Self(parts)
    }

    /// Whether a text is like it.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let mut rest = text.chars();
        let mut at = 0;
        // Where to go on if what follows the last `%` does not fit: one character further.
        let mut retry: Option<(usize, Chars<'_>)> = None;
        loop {
            let here = rest.clone();
            let fits = match (self.0.get(at), rest.next()) {
                (None, None) => return true,
                (Some(Part::Any), _) => {
                    rest = here.clone();
                    retry = Some((at + 1, here));
                    true
                }
                (Some(Part::One), Some(_)) => true,
                (Some(Part::Character(wanted)), Some(found)) => *wanted == found,
                _ => false,
            };
            if fits {
                at += 1;
                continue;
            }
            let Some((behind, from)) = &mut retry else { return false };
            if from.next().is_none() {
                return false;
            }
            (at, rest) = (*behind, from.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    fn is_like(text: &str, pattern: &str, escape: Option<char>) -> bool {
        Pattern::new(pattern, escape).matches(text)
    }

    #[test]
    fn patterns() {
        let table = [
            ("", "", true),
            ("", "%", true),
            ("", "_", false),
            ("abc", "abc", true),
            ("abc", "ABC", false),
            ("abc", "a%", true),
            ("abc", "%c", true),
            ("abc", "%b%", true),
            ("abc", "a_c", true),
            ("abc", "a_", false),
            ("abc", "%_%_%_%", true),
            ("abc", "%_%_%_%_%", false),
            ("aab", "%ab", true),
            ("mississippi", "m%iss%ip%i", true),
            ("mississippi", "m%iss%is%x", false),
            ("größe", "gr__e", true),
            ("日本語", "_本_", true),
            ("50%", "50!%", true),
            ("500", "50!%", false),
            ("a_b", "a!_b", true),
            ("axb", "a!_b", false),
            ("a!b", "a!!b", true),
            ("a!", "a!", true),
        ];
        for (text, pattern, expected) in table {
            assert_eq!(is_like(text, pattern, Some('!')), expected, "{text} LIKE {pattern}");
        }
        assert!(is_like("a!b", "a!b", None));
        let long = "a".repeat(20_000);
        assert!(!is_like(&long, &("%a".repeat(10) + "b"), None));
    }
}
