//! How a shell has to be given what a person is told to type.

/// One word of a command, in quotes if it needs them.
pub(crate) fn word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:@=,%+".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn what_a_shell_would_take_apart_is_quoted() {
        for (text, expected) in [
            ("a/b-1.yaml", "a/b-1.yaml"),
            ("postgres://ann@db/t", "postgres://ann@db/t"),
            ("größe", "größe"),
            ("bank:paid_on=%d/%m/%Y", "bank:paid_on=%d/%m/%Y"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(word(text), expected);
        }
    }
}
