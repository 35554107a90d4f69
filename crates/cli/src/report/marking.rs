//! Which part of two values differs, and how to shorten a value without losing that part.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

/// The characters of each value between what both begin with and what both end with.
pub(super) fn differing(left: &str, right: &str) -> (Range<usize>, Range<usize>) {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let same = |pair: &(&char, &char)| pair.0 == pair.1;
    let start = left.iter().zip(&right).take_while(same).count();
    let (left_rest, right_rest) = (&left[start..], &right[start..]);
    let end = left_rest.iter().rev().zip(right_rest.iter().rev()).take_while(same).count();
    (start..left.len() - end, start..right.len() - end)
}

/// A value cut to a width, with the part to mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cut {
    /// What is shown.
    pub(crate) text: String,
    /// Which of its characters are marked.
    pub(crate) mark: Range<usize>,
}

impl Cut {
    /// A value without a mark.
    pub(super) fn plain(text: &str, width: usize) -> Self {
        Self::new(text, 0..0, width)
    }

    /// Cuts out the middle, or both ends where the middle is what differs.
    pub(super) fn new(text: &str, mark: Range<usize>, width: usize) -> Self {
        let characters: Vec<char> = text.chars().collect();
        let fits = characters.iter().copied().map(columns).sum::<usize>() <= width;
        if fits || width < 4 {
            return Self { text: text.to_owned(), mark };
        }
        let tail = take_columns(characters.iter().rev().copied(), (width - 1) / 2);
        let head = take_columns(characters.iter().copied(), width - 1 - (width - 1) / 2);
        let hidden = head..characters.len() - tail;
        if mark.is_empty() || mark.start < hidden.start || mark.start >= hidden.end {
            return Self::around(&characters, 0..hidden.start, Some(hidden.end), &mark);
        }
        let start = mark.start.saturating_sub(width / 4);
        let shown = take_columns(characters[start..].iter().copied(), width - 2);
        Self::around(&characters, start..start + shown, None, &mark)
    }

    /// The piece, an ellipsis wherever something is left out, and perhaps the end from `tail`.
    fn around(characters: &[char], piece: Range<usize>, tail: Option<usize>, mark: &Range<usize>) -> Self {
        let mut text = String::new();
        let mut marked = Vec::new();
        let mut length = 0;
        let mut show = |from: Range<usize>, marked: &mut Vec<usize>| {
            for position in from {
                if mark.contains(&position) {
                    marked.push(length);
                }
                text.push(characters[position]);
                length += 1;
            }
            length += 1;
            text.push('…');
        };
        if piece.start > 0 {
            show(0..0, &mut marked);
        }
        show(piece.clone(), &mut marked);
        if let Some(tail) = tail {
            show(tail..characters.len(), &mut marked);
        }
        let reached = tail.map_or(piece.end, |_| characters.len());
        if reached == characters.len() {
            text.pop();
        }
        let mark = match (marked.first(), marked.last()) {
            (Some(&first), Some(&last)) => first..last + 1,
            _ => 0..0,
        };
        Self { text, mark }
    }

    /// The text in three parts: before, in and after the mark.
    pub(super) fn parts(&self) -> (&str, &str, &str) {
        let byte =
            |position| self.text.char_indices().nth(position).map_or(self.text.len(), |(byte, _)| byte);
        let (start, end) = (byte(self.mark.start), byte(self.mark.end));
        (&self.text[..start], &self.text[start..end], &self.text[end..])
    }
}

/// How many columns of a terminal a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

fn columns(character: char) -> usize {
    character.width().unwrap_or(1)
}

/// How many of the characters fit into the columns.
fn take_columns(characters: impl Iterator<Item = char>, limit: usize) -> usize {
    let mut used = 0;
    characters
        .take_while(|&character| {
            used += columns(character);
            used <= limit
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::{Cut, differing, width};

    #[test]
    fn the_differing_part_is_between_what_is_shared() {
        let cases = [
            ("10.00", "10.03", 4..5, 4..5),
            ("abc", "abc", 3..3, 3..3),
            ("abc", "abXc", 2..2, 2..3),
            ("aa", "aaa", 2..2, 2..3),
            ("", "x", 0..0, 0..1),
            ("naïve", "naive", 2..3, 2..3),
        ];
        for (left, right, in_left, in_right) in cases {
            assert_eq!(differing(left, right), (in_left, in_right), "{left} {right}");
        }
    }

    #[test]
    fn cuts_keep_the_mark_in_sight() {
        let long = "the quick brown fox jumps over the lazy dog";
        let cases = [
            (0..0, 50, "the quick brown fox jumps over the lazy dog", ""),
            (0..0, 15, "the qui…azy dog", ""),
            (4..9, 15, "the qui…azy dog", "qui"),
            (20..25, 15, "…ox jumps over…", "jumps"),
            (40..43, 15, "the qui…azy dog", "dog"),
        ];
        for (mark, limit, text, marked) in cases {
            let cut = Cut::new(long, mark, limit);
            assert_eq!(cut.text, text);
            assert_eq!(cut.parts().1, marked, "{text}");
            assert!(width(&cut.text) <= limit);
        }
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(width("日本"), 4);
        assert_eq!(Cut::plain("日本語日本語", 7).text, "日…語");
    }
}
