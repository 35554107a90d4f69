//! Keeps what data and file names contain from steering a terminal.

/// The text with control characters spelt out, so that a value cannot move the cursor or break a line.
pub(crate) fn visible(text: &str) -> String {
    spelt(text, is_unprintable)
}

/// As [`visible`], for text that has lines of its own.
pub(crate) fn visible_lines(text: &str) -> String {
    spelt(text, |character| character != '\n' && is_unprintable(character))
}

/// Control characters, and those that reorder what is shown.
pub(crate) fn is_unprintable(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn spelt(text: &str, hidden: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if hidden(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{visible, visible_lines};

    #[test]
    fn control_characters_are_spelt_out() {
        assert_eq!(visible("a\n\u{1b}[31mb\u{202e}\u{9b}é"), "a\\n\\u{1b}[31mb\\u{202e}\\u{9b}é");
        assert_eq!(visible_lines("a\n\u{1b}b"), "a\n\\u{1b}b");
    }
}
