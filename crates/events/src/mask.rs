//! Takes secrets out of payloads before they are stored.

use std::ops::Range;

use serde_json::Value;

/// What stands where a secret was.
const MASK: &str = "***";

/// Ends of words that name a secret, in the singular.
const SECRET_WORDS: [&str; 12] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "token",
    "credential",
    "authorization",
    "authorisation",
    "cookie",
    "apikey",
    "jwt",
];

/// Words before `key` that make it a secret one.
const SECRET_KEYS: [&str; 8] =
    ["api", "access", "private", "secret", "signing", "encryption", "account", "shared"];

/// Last words of names that only tell something about a secret: `token_count`, `secret_name`.
const ABOUT: [&str; 16] = [
    "at", "count", "expiry", "expires", "id", "kind", "length", "limit", "name", "size", "total", "ttl",
    "type", "uri", "url", "used",
];

/// Replaces the values of keys that are named like secrets, and bearer tokens and PEM blocks in any text.
pub fn mask(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(masked) = mask_text(text) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Object(members) => mask_members(members),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Masks the members of an object, or what else has names.
pub(crate) fn mask_members<'a>(members: impl IntoIterator<Item = (&'a String, &'a mut Value)>) {
    for (key, value) in members {
        if !names_a_secret(key) {
            mask(value);
        } else if !value.is_null() {
            *value = MASK.into();
        }
    }
}

fn names_a_secret(key: &str) -> bool {
    let words = words(key);
    let is_about = words.last().is_some_and(|last| ABOUT.contains(&last.as_str()));
    let is_secret = |word: &String| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        SECRET_WORDS.iter().any(|secret| singular.ends_with(secret))
    };
    let is_secret_key =
        |pair: &[String]| pair[1].starts_with("key") && SECRET_KEYS.contains(&pair[0].as_str());
    !is_about && (words.iter().any(is_secret) || words.windows(2).any(is_secret_key))
}

/// The words of a name in lower case: `dbPassword2`, `DB_PASSWORD` and `db-password` have the same two.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphabetic() || (c.is_uppercase() && was_lower) {
            words.push(std::mem::take(&mut word));
        }
        was_lower = c.is_lowercase();
        word.extend(c.to_lowercase().filter(|c| c.is_alphabetic()));
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// The text without bearer tokens and PEM blocks; none if it has neither.
fn mask_text(text: &str) -> Option<String> {
    let without_pem = mask_spans(text, PEM_BEGIN, pem_block);
    let without_bearer = mask_spans(without_pem.as_deref().unwrap_or(text), BEARER, bearer_token);
    without_bearer.or(without_pem)
}

const PEM_BEGIN: &str = "-----begin ";
const PEM_END: &str = "-----end ";
const BEARER: &str = "bearer";

/// The block that begins here; one that is cut off goes on to the end of the text.
fn pem_block(text: &str, at: usize) -> Range<usize> {
    let end = find_ignoring_case(&text[at..], PEM_END).map(|end| at + end + PEM_END.len());
    let tail = end.and_then(|end| Some(end + text[end..].find("-----")? + "-----".len()));
    at..tail.unwrap_or(text.len())
}

/// The token behind the word; nothing where that is the end of another word.
fn bearer_token(text: &str, at: usize) -> Range<usize> {
    let end = at + BEARER.len();
    let is_word = !text[..at].ends_with(char::is_alphanumeric);
    let token = text[end..].trim_start();
    let start = text.len() - token.len();
    let is_token = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
    let length = token.find(|c| !is_token(c)).unwrap_or(token.len());
    if is_word && start > end { start..start + length } else { end..end }
}

/// Masks at each mark the span that is found there.
fn mask_spans(text: &str, mark: &str, span: fn(&str, usize) -> Range<usize>) -> Option<String> {
    let mut masked = String::new();
    let mut rest = text;
    while let Some(at) = find_ignoring_case(rest, mark) {
        let Range { start, end } = span(rest, at);
        masked.push_str(&rest[..start]);
        masked.push_str(if end > start { MASK } else { "" });
        rest = &rest[end..];
    }
    masked.push_str(rest);
    (masked != text).then_some(masked)
}

/// Finds an ASCII mark, which is in lower case, in whatever case it is written.
fn find_ignoring_case(text: &str, mark: &str) -> Option<usize> {
    text.as_bytes().windows(mark.len()).position(|window| window.eq_ignore_ascii_case(mark.as_bytes()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_told_by_their_words() {
        let secret = [
            "password",
            "Password",
            "dbPassword",
            "DB_PASSWORD",
            "password2",
            "passwords",
            "dbpassword",
            "pwd",
            "token",
            "access_token",
            "accessToken",
            "x-api-key",
            "apiKey",
            "APIKEY",
            "aws_secret_access_key",
            "client_secret",
            "Authorization",
            "set-cookie",
            "credentials",
            "private_key",
            "password_hash",
        ];
        let open = [
            "",
            "name",
            "key",
            "keys",
            "token_count",
            "secret_name",
            "secretary",
            "tokenizer",
            "token_expires_at",
            "compass",
            "access",
            "group_key",
            "password_url",
            "foreign_key",
        ];
        for key in secret {
            assert!(names_a_secret(key), "{key}");
        }
        for key in open {
            assert!(!names_a_secret(key), "{key}");
        }
    }

    #[test]
    fn secrets_are_masked_wherever_they_are() {
        let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
        let mut payload = json!({
            "db": {"user": "u", "password": "p", "token": null, "secret": {"a": [1]}, "pwd": 42},
            "headers": [{"x": "Bearer abc.def-1"}, "curl -H 'authorization: BEARER  t0k/en=' -v"],
            "note": "the ringbearer came",
            "pem": format!("before {pem} between {pem} after"),
            "cut": "-----BEGIN PRIVATE KEY-----\nMIIE",
            "rows": 12, "ok": true, "none": null,
        });
        mask(&mut payload);
        let expected = json!({
            "db": {"user": "u", "password": "***", "token": null, "secret": "***", "pwd": "***"},
            "headers": [{"x": "Bearer ***"}, "curl -H 'authorization: BEARER  ***' -v"],
            "note": "the ringbearer came",
            "pem": "before *** between *** after",
            "cut": "***",
            "rows": 12, "ok": true, "none": null,
        });
        assert_eq!(payload, expected);
        let once = payload.clone();
        mask(&mut payload);
        assert_eq!(payload, once);
    }
}
