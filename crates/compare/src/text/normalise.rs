//! What is done to text before it is compared.

use caseless::Caseless;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::spec::Normaliser;

/// The normalisers of a column; they apply in the order `nfc`, `casefold`, `trim`, `collapse_space`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct NormaliserSet(u8);

impl NormaliserSet {
    /// Whether text stays as it is.
    #[must_use]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether this normaliser applies.
    #[must_use]
    pub(crate) fn contains(self, normaliser: Normaliser) -> bool {
        self.0 & bit(normaliser) != 0
    }
}

impl FromIterator<Normaliser> for NormaliserSet {
    fn from_iter<I: IntoIterator<Item = Normaliser>>(normalisers: I) -> Self {
        Self(normalisers.into_iter().fold(0, |bits, normaliser| bits | bit(normaliser)))
    }
}

fn bit(normaliser: Normaliser) -> u8 {
    match normaliser {
        Normaliser::Trim => 1,
        Normaliser::CollapseSpace => 2,
        Normaliser::Casefold => 4,
        Normaliser::Nfc => 8,
    }
}

/// Applies normalisers, writing to the room given (reused from value to value) only where text changes.
#[must_use]
pub(crate) fn normalise_into<'a>(text: &'a str, with: NormaliserSet, room: &'a mut String) -> &'a str {
    let text = trimmed(text, with);
    if is_unchanged(text, with) {
        return text;
    }
    room.clear();
    append_changed(text, with, room);
    room
}

/// Trims first: neither `nfc` nor `casefold` makes white space of anything else, or the reverse.
fn trimmed(text: &str, with: NormaliserSet) -> &str {
    if with.contains(Normaliser::Trim) { text.trim() } else { text }
}

fn is_unchanged(text: &str, with: NormaliserSet) -> bool {
    let ascii = text.is_ascii();
    (!with.contains(Normaliser::Nfc) || ascii || is_composed(text))
        && (!with.contains(Normaliser::Casefold) || is_folded(text, ascii))
        && (!with.contains(Normaliser::CollapseSpace) || is_collapsed(text, ascii))
}

/// Whether text is in form C; some that is may be held to be not, which only costs time.
fn is_composed(text: &str) -> bool {
    is_nfc_quick(text.chars()) == IsNormalized::Yes
}

fn is_folded(text: &str, ascii: bool) -> bool {
    if ascii {
        return none(text.bytes(), |byte| byte.is_ascii_uppercase());
    }
    text.chars().all(|letter| folded(letter).eq([letter]))
}

fn is_collapsed(text: &str, ascii: bool) -> bool {
    let bytes = text.as_bytes();
    let has_double_space =
        || !none(bytes.iter().zip(bytes.iter().skip(1)), |(&one, &next)| one == b' ' && next == b' ');
    let has_other_space = || {
        if ascii {
            !none(bytes.iter(), |byte| matches!(byte, b'\t'..=b'\r'))
        } else {
            text.chars().any(|letter| letter != ' ' && letter.is_whitespace())
        }
    };
    !has_double_space() && !has_other_space()
}

/// Looks at every item even when the answer is known, which is what lets short texts be looked at many bytes at a time.
fn none<T>(items: impl Iterator<Item = T>, is: impl Fn(T) -> bool) -> bool {
    items.fold(true, |none, item| none & !is(item))
}

fn folded(letter: char) -> impl Iterator<Item = char> {
    std::iter::once(letter).default_case_fold()
}

fn append_changed(text: &str, with: NormaliserSet, out: &mut String) {
    if text.is_ascii() && !with.contains(Normaliser::CollapseSpace) {
        // Case is all that can change here.
        out.push_str(text);
        out.make_ascii_lowercase();
    } else if with.contains(Normaliser::Nfc) && !is_composed(text) {
        append_letters(text.nfc(), with, out);
    } else {
        append_letters(text.chars(), with, out);
    }
}

fn append_letters(letters: impl Iterator<Item = char>, with: NormaliserSet, out: &mut String) {
    let casefold = with.contains(Normaliser::Casefold);
    let collapse = with.contains(Normaliser::CollapseSpace);
    let mut after_space = false;
    for letter in letters {
        let is_space = collapse && letter.is_whitespace();
        if is_space {
            if !after_space {
                out.push(' ');
            }
        } else if !casefold {
            out.push(letter);
        } else if letter.is_ascii() {
            out.push(letter.to_ascii_lowercase());
        } else {
            out.extend(folded(letter));
        }
        after_space = is_space;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Normaliser::{Casefold, CollapseSpace, Nfc, Trim};

    const CASES: &[(&[Normaliser], &str, &str)] = &[
        (&[], " A  b ", " A  b "),
        (&[Trim], "  a  b\t", "a  b"),
        (&[Trim], "\u{a0}\u{2003}a\u{3000}", "a"),
        (&[Trim], "   ", ""),
        (&[Trim], "\u{200b}a", "\u{200b}a"),
        (&[CollapseSpace], "  a \t\r\n b ", " a b "),
        (&[CollapseSpace], "a\tb", "a b"),
        (&[CollapseSpace], "a\u{2009}\u{a0}b\u{3000}c", "a b c"),
        (&[CollapseSpace], "a b c", "a b c"),
        (&[Trim, CollapseSpace], "\u{a0} a\u{a0}\u{a0}b ", "a b"),
        (&[Casefold], "HELLO World", "hello world"),
        (&[Casefold], "hello", "hello"),
        (&[Casefold], "Straße", "strasse"),
        (&[Casefold], "STRASSE", "strasse"),
        (&[Casefold], "ẞ", "ss"),
        (&[Casefold], "İ", "i\u{307}"),
        (&[Casefold], "ΣΑΣ", "σασ"),
        (&[Casefold], "σας", "σασ"),
        (&[Casefold], "ﬁn", "fin"),
        (&[Nfc], "e\u{301}", "é"),
        (&[Nfc], "é", "é"),
        (&[Nfc], "\u{212b}", "Å"),
        (&[Nfc], "한", "한"),
        (&[Nfc], "ascii", "ascii"),
        (&[Nfc, Casefold], "E\u{301}", "é"),
        (&[Casefold, Nfc], "É", "é"),
        (&[Casefold], "E\u{301}", "e\u{301}"),
        (&[CollapseSpace, Trim, Casefold, Nfc], " \u{2001}Cafe\u{301}\u{2000} \tBAR ", "café bar"),
        (&[CollapseSpace, Trim, Casefold, Nfc], "", ""),
    ];

    #[test]
    fn normalisers_apply_in_their_order_however_they_are_given() {
        let mut room = String::from("left over");
        for (normalisers, text, expected) in CASES {
            let forward: NormaliserSet = normalisers.iter().copied().collect();
            let backward: NormaliserSet = normalisers.iter().rev().copied().collect();
            assert_eq!(forward, backward);
            let normal = normalise_into(text, forward, &mut room);
            assert_eq!(normal, *expected, "{normalisers:?} of {text:?}");
            let borrowed = text.as_bytes().as_ptr_range().contains(&normal.as_ptr()) || normal.is_empty();
            assert_eq!(borrowed, text.contains(*expected), "{normalisers:?} of {text:?}");
        }
    }

    #[test]
    fn white_space_stays_white_space_under_nfc_and_casefold() {
        for letter in char::MIN..=char::MAX {
            let mut utf8 = [0; 4];
            let text: &str = letter.encode_utf8(&mut utf8);
            let changed = text.nfc().default_case_fold();
            assert!(
                changed.into_iter().all(|other| other.is_whitespace() == letter.is_whitespace()),
                "{letter:?}"
            );
        }
    }
}
