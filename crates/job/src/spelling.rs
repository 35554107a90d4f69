//! Guesses which word was meant.

/// Longer words are not names that somebody mistyped, and comparing them would take long.
const LETTERS_MAX: usize = 64;

/// More than there are time zones.
const CANDIDATES_MAX: usize = 1000;

/// Picks the candidate that is spelt most like a word, if any is close; of equally close ones the first.
pub fn near_miss<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    if letters > LETTERS_MAX {
        return None;
    }
    let word = word.to_lowercase();
    let most = (letters / 3).clamp(1, 3);
    candidates
        .into_iter()
        .take(CANDIDATES_MAX)
        .filter(|candidate| candidate.chars().count() <= LETTERS_MAX)
        .map(|candidate| (strsim::osa_distance(&word, &candidate.to_lowercase()), candidate))
        // A word whose every letter would change is another word.
        .filter(|(distance, candidate)| {
            *distance <= most && *distance < letters.max(candidate.chars().count())
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Says what was meant or, with no guess, what there is.
pub(crate) fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    if let Some(near) = near_miss(word, candidates.clone()) {
        return Some(format!("did you mean `{near}`?"));
    }
    let mut known: Vec<&str> = candidates.into_iter().take(SHOWN_MAX + 1).collect();
    if known.len() > SHOWN_MAX {
        known[SHOWN_MAX] = "…";
    }
    (!known.is_empty()).then(|| format!("expected {}", known.join(", ")))
}

const SHOWN_MAX: usize = 12;

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn what_was_meant() {
        let fields = ["connection", "query", "table"];
        let table = [
            ("conection", "did you mean `connection`?"),
            ("Query", "did you mean `query`?"),
            ("tabel", "did you mean `table`?"),
            ("sql", "expected connection, query, table"),
        ];
        for (word, expected) in table {
            assert_eq!(hint(word, fields).as_deref(), Some(expected));
        }
        assert_eq!(hint(&"x".repeat(1 << 20), fields).as_deref(), Some("expected connection, query, table"));
        assert_eq!(hint("a", []), None);
    }
}
