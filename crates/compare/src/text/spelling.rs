//! Finds the word that someone probably meant.

/// Picks the candidate that is spelt most like a word, if any is close; of equally close ones the first.
#[must_use]
pub fn near_miss<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().collect();
    let most = (word.len() / 3).clamp(1, 3);
    candidates
        .filter_map(|candidate| {
            let letters: Vec<char> = candidate.to_lowercase().chars().collect();
            // A word whose every letter would change is another word.
            let longest = word.len().max(letters.len());
            let distance = edits(&word, &letters);
            (distance <= most && distance < longest).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Counts the letters to add, drop, replace or swap with their neighbour.
fn edits(from: &[char], to: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, &letter) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, &other) in to.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != other);
            let mut fewest = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && letter == to[column - 1] && from[row - 1] == other {
                fewest = fewest.min(before_last[column - 1] + 1);
            }
            current.push(fewest);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_found_and_strangers_are_not() {
        let columns = ["amount", "account", "trade_date", "ccy", "id", "größe"];
        for (word, expected) in [
            ("ammount", Some("amount")),
            ("Amount", Some("amount")),
            ("amuont", Some("amount")),
            ("accout", Some("account")),
            ("tradedate", Some("trade_date")),
            ("trade-dates", Some("trade_date")),
            ("ccv", Some("ccy")),
            ("di", Some("id")),
            ("grösse", Some("größe")),
            ("price", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(near_miss(word, columns.into_iter()), expected, "{word:?}");
        }
        assert_eq!(near_miss("ac", ["ab", "ad"].into_iter()), Some("ab"));
    }

    #[test]
    fn edits_are_counted() {
        for (from, to, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("abc", "abc", 0),
        ] {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(edits(&letters(from), &letters(to)), expected, "{from} {to}");
        }
    }
}
