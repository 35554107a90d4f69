//! What a content type says about how a body is to be read.

/// Whether data of a type is JSON: its subtype is `json`, or ends in `+json`.
pub(super) fn is_json(content_type: &str) -> bool {
    let subtype = essence(content_type).split_once('/').map(|(_, subtype)| subtype).unwrap_or_default();
    subtype.rsplit('+').next().is_some_and(|suffix| suffix.eq_ignore_ascii_case("json"))
}

/// Whether it says no charset, or one whose texts are UTF-8.
pub(super) fn is_utf8(content_type: &str) -> bool {
    let parameters = content_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let mut charsets = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    let known = ["utf-8", "utf8", "us-ascii"];
    charsets.all(|(_, value)| {
        let charset = value.trim().trim_matches('"');
        known.iter().any(|name| charset.eq_ignore_ascii_case(name))
    })
}

/// The type and subtype, without parameters.
pub(super) fn essence(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_told_by_the_subtype() {
        let json =
            ["application/json", "Application/JSON; charset=utf-8", "text/json", "application/x.y+json"];
        let other = ["", "json", "text/plain", "application/jsonl", "application/json+xml", "a/b;c=d/json"];
        assert!(json.iter().all(|content_type| is_json(content_type)));
        assert!(!other.iter().any(|content_type| is_json(content_type)));
    }

    #[test]
    fn charsets_other_than_utf8_are_told() {
        let readable = ["a/b", "a/b; charset=UTF-8", "a/b;q=1; Charset=\"utf-8\"", "a/b; charset=us-ascii"];
        let other = ["a/b; charset=latin1", "a/b; q=1; charset=\"UTF-16\""];
        assert!(readable.iter().all(|content_type| is_utf8(content_type)));
        assert!(!other.iter().any(|content_type| is_utf8(content_type)));
    }
}
