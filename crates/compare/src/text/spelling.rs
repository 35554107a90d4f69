//! Finds the word that someone probably meant.

/// Picks the candidate that is spelt most like a word, if any is close; of equally close ones the first.
#[must_use]
pub fn near_miss<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let letters = word.chars().count();
    let most = (letters / 3).clamp(1, 3);
    candidates
        .map(|candidate| (strsim::osa_distance(&word, &candidate.to_lowercase()), candidate))
        // A word whose every letter would change is another word.
        .filter(|(distance, candidate)| {
            *distance <= most && *distance < letters.max(candidate.chars().count())
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
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
}
