//! The values of attributes in HTTP headers: percent-encoded, and quoted by some.

const HEX: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];

/// Writes a value: space, `"`, `%` and whatever is not visible ASCII as escapes of its UTF-8.
pub fn encode(value: &str) -> String {
    let mut header = String::with_capacity(value.len());
    for byte in value.bytes() {
        if matches!(byte, b'!'..=b'~') && !matches!(byte, b'"' | b'%') {
            header.push(char::from(byte));
        } else {
            header.extend(['%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
    }
    header
}

/// Reads a value: takes the quotes off, if it has any, and then decodes once.
///
/// A `%` that starts no escape stands for itself: senders that never escape write it so.
pub fn decode(header: &[u8]) -> Result<String, &'static str> {
    let unquoted = unquote(header.trim_ascii()).ok_or("has a quote that is not closed, or one inside")?;
    let mut bytes = Vec::with_capacity(unquoted.len());
    let mut rest = unquoted.as_slice();
    while let Some((&byte, after)) = rest.split_first() {
        let escape = (byte == b'%').then(|| after.split_at_checked(2)).flatten();
        let decoded = escape.and_then(|(digits, after)| Some((hex(digits)?, after)));
        let (byte, after) = decoded.unwrap_or((byte, after));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| "is not UTF-8")
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let [high, low] = digits else { return None };
    u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()
}

/// Takes the quotes and backslashes off a quoted string of RFC 7230; none if it does not end where its quote does.
fn unquote(header: &[u8]) -> Option<Vec<u8>> {
    let Some(quoted) = header.strip_prefix(b"\"") else { return Some(header.to_vec()) };
    let mut text = Vec::with_capacity(quoted.len());
    let mut bytes = quoted.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => text.push(bytes.next()?),
            b'"' => return bytes.next().is_none().then_some(text),
            _ => text.push(byte),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_encoded() {
        let table = [
            ("plain/-_~!", "plain/-_~!"),
            ("a b", "a%20b"),
            ("say \"hi\"", "say%20%22hi%22"),
            ("100%", "100%25"),
            ("Euro € 😀", "Euro%20%E2%82%AC%20%F0%9F%98%80"),
            ("a\tb\u{7f}", "a%09b%7F"),
            ("back\\slash", "back\\slash"),
            ("", ""),
        ];
        for (value, header) in table {
            assert_eq!(encode(value), header);
            assert_eq!(decode(header.as_bytes()).as_deref(), Ok(value));
        }
    }

    #[test]
    fn values_are_decoded_once() {
        let table: [(&[u8], Result<&str, &str>); 16] = [
            (b"Euro%20%e2%82%ac", Ok("Euro €")),
            (b"%41%62%63", Ok("Abc")),
            (b"%2525", Ok("%25")),
            (b"\"a b\"", Ok("a b")),
            (b"\"say \\\"hi\\\"\"", Ok("say \"hi\"")),
            (b"\"%22quoted%22\"", Ok("\"quoted\"")),
            (b"\"back\\\\slash\"", Ok("back\\slash")),
            (b"  padded\t", Ok("padded")),
            (b"100%", Ok("100%")),
            (b"%zz%4", Ok("%zz%4")),
            (b"a\"b", Ok("a\"b")),
            ("ü".as_bytes(), Ok("ü")),
            (b"%C3%28", Err("is not UTF-8")),
            (b"\xff", Err("is not UTF-8")),
            (b"\"open", Err("has a quote that is not closed, or one inside")),
            (b"\"a\"b\"", Err("has a quote that is not closed, or one inside")),
        ];
        for (header, value) in table {
            let decoded = decode(header);
            assert_eq!(decoded.as_deref().map_err(|problem| *problem), value, "{header:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_safe_and_comes_back(value in any::<String>()) {
            let header = encode(&value);
            prop_assert!(header.bytes().all(|byte| matches!(byte, b'!'..=b'~') && byte != b'"'));
            prop_assert_eq!(decode(header.as_bytes()), Ok(value));
        }
    }
}
