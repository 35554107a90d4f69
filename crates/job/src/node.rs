//! A document as a tree that knows where everything was written.

use std::ops::Range;

use crate::fault::Place;

/// A value and its place.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) place: Place,
    /// Where it is in the text, in bytes.
    pub(crate) span: Range<usize>,
    pub(crate) content: Content,
}

#[derive(Debug, Clone)]
pub(crate) enum Content {
    /// A text, as it was meant; without quotes it may also be a number, a truth value or nothing.
    Scalar {
        text: String,
        quoted: bool,
    },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_place: Place,
    pub(crate) node: Node,
}

impl Node {
    /// What it is, for a message: `a list`, `the number 3`.
    pub(crate) fn described(&self) -> String {
        match &self.content {
            Content::List(_) => "a list".to_owned(),
            Content::Map(_) => "a mapping".to_owned(),
            Content::Scalar { text, quoted: true } => format!("the text {}", shortened(text)),
            Content::Scalar { text, quoted: false } => match plain_kind(text) {
                Plain::Null => "nothing".to_owned(),
                Plain::Flag(flag) => format!("{flag}"),
                Plain::Number => format!("the number {}", shortened(text).trim_matches('"')),
                Plain::Text => format!("the text {}", shortened(text)),
            },
        }
    }

    /// The nodes in it, itself included.
    pub(crate) fn count(&self) -> usize {
        let inside: usize = match &self.content {
            Content::Scalar { .. } => 0,
            Content::List(items) => items.iter().map(Self::count).sum(),
            Content::Map(entries) => entries.iter().map(|entry| entry.node.count()).sum(),
        };
        inside + 1
    }

    /// The text of a scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar { text, .. } => Some(text),
            Content::List(_) | Content::Map(_) => None,
        }
    }

    /// The value of a key, if this is a mapping that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        match &self.content {
            Content::Map(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node),
            Content::List(_) | Content::Scalar { .. } => None,
        }
    }
}

/// What a scalar without quotes is, by the core schema of YAML 1.2, of which JSON's is a part.
pub(crate) enum Plain {
    Null,
    Flag(bool),
    Number,
    Text,
}

pub(crate) fn plain_kind(text: &str) -> Plain {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Plain::Null,
        "true" | "True" | "TRUE" => Plain::Flag(true),
        "false" | "False" | "FALSE" => Plain::Flag(false),
        _ if is_number(text) => Plain::Number,
        _ => Plain::Text,
    }
}

fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let based = |prefix: &str, radix: u32| {
        unsigned
            .strip_prefix(prefix)
            .is_some_and(|digits| !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix)))
    };
    let special = matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN");
    special || based("0x", 16) || based("0o", 8) || is_decimal(unsigned)
}

fn is_decimal(unsigned: &str) -> bool {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let counted = !whole.is_empty() || !fraction.is_empty();
    counted && digits(whole) && digits(fraction) && exponent.is_none_or(|it| !it.is_empty() && digits(it))
}

/// A text in quotes, cut where it is too long for a message.
pub(crate) fn shortened(text: &str) -> String {
    const LETTERS_MAX: usize = 60;
    let mut shown: String = text.chars().take(LETTERS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

#[cfg(test)]
mod tests {
    use super::{Plain, plain_kind};

    #[test]
    fn plain_scalars_are_what_yaml_says() {
        let table = [
            ("1", 'n'),
            ("-1.50", 'n'),
            ("1e5", 'n'),
            (".5", 'n'),
            ("0x1F", 'n'),
            ("-.inf", 'n'),
            ("2026-01-31", 't'),
            ("1e", 't'),
            (".", 't'),
            ("-", 't'),
            ("no", 't'),
            ("on", 't'),
            ("1h", 't'),
            ("True", 'b'),
            ("~", '0'),
        ];
        for (text, expected) in table {
            let kind = match plain_kind(text) {
                Plain::Null => '0',
                Plain::Flag(_) => 'b',
                Plain::Number => 'n',
                Plain::Text => 't',
            };
            assert_eq!(kind, expected, "{text}");
        }
    }
}
