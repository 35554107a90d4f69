//! What text can be read as, and what is done to it before it is compared.

mod assumption;
mod likeness;
mod normalise;
mod spelling;

pub(crate) use assumption::{Assumption, Reading};
pub(crate) use likeness::Likeness;
pub(crate) use normalise::{NormaliserSet, normalise_into};
pub use spelling::near_miss;

/// Whether text is `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`.
#[inline]
#[must_use]
pub(crate) fn is_numeral(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let Some(rest) = skip_digits(unsigned) else {
        return false;
    };
    if unsigned[0] == b'0' && unsigned.len() - rest.len() > 1 {
        return false;
    }
    let rest = match rest {
        [] => return true,
        [b'.', fraction @ ..] => match skip_digits(fraction) {
            Some(rest) => rest,
            None => return false,
        },
        _ => rest,
    };
    match rest {
        [] => true,
        [b'e' | b'E', b'+' | b'-', exponent @ ..] | [b'e' | b'E', exponent @ ..] => {
            skip_digits(exponent).is_some_and(<[u8]>::is_empty)
        }
        _ => false,
    }
}

fn skip_digits(text: &[u8]) -> Option<&[u8]> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (length > 0).then(|| &text[length..])
}

/// Reads the words for numbers that no numeral can write: `NaN`, `inf`, `-inf`, `Infinity`, `-Infinity`.
#[inline]
#[must_use]
pub(crate) fn special_number(text: &[u8]) -> Option<f64> {
    match text {
        b"NaN" => Some(f64::NAN),
        b"inf" | b"Infinity" => Some(f64::INFINITY),
        b"-inf" | b"-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// Reads `true` and `false` in any case.
#[inline]
#[must_use]
pub(crate) fn boolean(text: &[u8]) -> Option<bool> {
    match text.len() {
        4 if text.eq_ignore_ascii_case(b"true") => Some(true),
        5 if text.eq_ignore_ascii_case(b"false") => Some(false),
        _ => None,
    }
}

/// Reads a truth value of a column declared to hold them: also `t f yes no y n 1 0`, in any case.
#[inline]
#[must_use]
pub(crate) fn declared_boolean(text: &[u8]) -> Option<bool> {
    match text {
        b"1" | b"t" | b"T" | b"y" | b"Y" => Some(true),
        b"0" | b"f" | b"F" | b"n" | b"N" => Some(false),
        _ if text.eq_ignore_ascii_case(b"yes") => Some(true),
        _ if text.eq_ignore_ascii_case(b"no") => Some(false),
        _ => boolean(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerals_follow_the_grammar() {
        for text in [
            "0",
            "-0",
            "7",
            "10",
            "-12",
            "0.5",
            "-0.50",
            "12.000",
            "1e5",
            "1E+5",
            "1e-05",
            "-1.5e10",
            "0e0",
            "123456789012345678901234567890123456789012345",
        ] {
            assert!(is_numeral(text.as_bytes()), "{text:?}");
        }
        for text in [
            "", "-", "+1", "007", "00", "-01", "01.5", ".5", "5.", "-.5", "1.e5", "1e", "1e+", "e5", "1,000",
            "1 ", " 1", "--1", "1.2.3", "1e5.0", "0x10", "NaN", "inf", "１", "1_000", "1e+-5",
        ] {
            assert!(!is_numeral(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn special_numbers_are_words() {
        assert!(special_number(b"NaN").is_some_and(f64::is_nan));
        for (text, expected) in [
            ("inf", Some(f64::INFINITY)),
            ("Infinity", Some(f64::INFINITY)),
            ("-inf", Some(f64::NEG_INFINITY)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("-NaN", None),
            ("+inf", None),
            ("nan", None),
            ("INF", None),
            ("1", None),
            ("", None),
        ] {
            assert_eq!(special_number(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn truth_values_are_read_in_any_case() {
        for (text, plain, declared) in [
            ("true", Some(true), Some(true)),
            ("FALSE", Some(false), Some(false)),
            ("tRuE", Some(true), Some(true)),
            ("t", None, Some(true)),
            ("F", None, Some(false)),
            ("Yes", None, Some(true)),
            ("NO", None, Some(false)),
            ("y", None, Some(true)),
            ("N", None, Some(false)),
            ("1", None, Some(true)),
            ("0", None, Some(false)),
            ("", None, None),
            (" true", None, None),
            ("truth", None, None),
            ("2", None, None),
            ("on", None, None),
        ] {
            assert_eq!(boolean(text.as_bytes()), plain, "{text:?}");
            assert_eq!(declared_boolean(text.as_bytes()), declared, "{text:?}");
        }
    }
}
