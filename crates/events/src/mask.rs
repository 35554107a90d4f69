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

/// Replaces the values of keys that are named like secrets, and what is one in any text.
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

/// Replaces what is a secret in any text of a payload of our own, whose keys are our words or the names of sources.
pub(crate) fn mask_texts(value: &mut Value) {
    match value {
        Value::Object(members) => members.values_mut().for_each(mask_texts),
        Value::Array(items) => items.iter_mut().for_each(mask_texts),
        other => mask(other),
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

/// Finds what a mark, which is at a place in a text, says is a secret.
type Find = fn(&str, usize) -> Range<usize>;

/// The text without PEM blocks, bearer tokens, passwords in URLs and what is set by `password=`; none if it has no secret.
pub fn mask_text(text: &str) -> Option<String> {
    // Most texts are names and ids, and have nothing that a secret could stand behind.
    let may_hide = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'=' | b'@') || !byte.is_ascii();
    if !text.bytes().any(may_hide) {
        return None;
    }
    let secrets: [(&str, Find); 4] =
        [(PEM_BEGIN, pem_block), (BEARER, bearer_token), (URL, url_password), ("=", assigned)];
    secrets.into_iter().fold(None, |masked, (mark, span)| {
        mask_spans(masked.as_deref().unwrap_or(text), mark, span).or(masked)
    })
}

const PEM_BEGIN: &str = "-----begin ";
const PEM_END: &str = "-----end ";
const BEARER: &str = "bearer";
const URL: &str = "://";

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

/// The password before the host of the URL whose scheme ends here; nothing where there is none.
fn url_password(text: &str, at: usize) -> Range<usize> {
    let start = at + URL.len();
    let is_end = |c: char| c.is_whitespace() || "/?#\"'<>".contains(c);
    let authority = text[start..].split(is_end).next().unwrap_or_default();
    let password = authority.rsplit_once('@').and_then(|(user, _)| user.split_once(':')).map(|(_, it)| it);
    password.map_or(start..start, |password| {
        let begin = start + authority.find(':').map_or(0, |colon| colon + 1);
        begin..begin + password.len()
    })
}

/// What the `=` gives to a word that names a secret; nothing behind another word.
fn assigned(text: &str, at: usize) -> Range<usize> {
    let is_word = |c: char| c.is_alphanumeric() || "_-".contains(c);
    let name = text[..at].trim_end().rsplit(|c| !is_word(c)).next().unwrap_or_default();
    let value = text[at + 1..].trim_start();
    let start = text.len() - value.len();
    let end = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => value[1..].find(quote).map_or(value.len(), |end| end + 2),
        _ => value.find(|c: char| c.is_whitespace() || ";,&)\"'".contains(c)).unwrap_or(value.len()),
    };
    if names_a_secret(name) { start..start + end } else { at + 1..at + 1 }
}

/// Masks at each mark the span that is found there.
fn mask_spans(text: &str, mark: &str, span: Find) -> Option<String> {
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
    fn texts_keep_all_but_their_secrets() {
        let table = [
            ("postgres://ann:hunter2@db/shop refused it", "postgres://ann:***@db/shop refused it"),
            ("mysql://ann:a:b@c@db?x=1, https://db:5432/a@b", "mysql://ann:***@db?x=1, https://db:5432/a@b"),
            ("postgres://ann@db", "postgres://ann@db"),
            ("the password=hunter2, so stop it", "the password=***, so stop it"),
            ("UID=ann;PWD=hun\u{df}er2;x=1", "UID=ann;PWD=***;x=1"),
            ("db_password = 'hunter 2' a=b", "db_password = *** a=b"),
            ("?access_token=abc&token_count=7", "?access_token=***&token_count=7"),
            ("password=", "password="),
            ("password=\"open", "password=***"),
            ("unexpected token: ',' in a == b", "unexpected token: ',' in a == b"),
            ("\u{e9}=\u{e9}", "\u{e9}=\u{e9}"),
        ];
        for (text, expected) in table {
            let masked = mask_text(text).unwrap_or_else(|| text.to_owned());
            assert_eq!(masked, expected, "{text}");
            assert_eq!(mask_text(&masked), None, "{masked}");
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
