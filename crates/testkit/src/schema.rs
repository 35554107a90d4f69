//! Checks JSON against a schema, with the keywords that ours use and no others.

use serde_json::{Map, Value};

/// Where a value is not what a schema says.
///
/// # Panics
///
/// When the schema uses a keyword that the checker does not know: nothing would be checked then.
pub fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Checker { root: schema }.check(schema, value, "$", &mut found);
    found
}

struct Checker<'a> {
    /// What references point into.
    root: &'a Value,
}

impl Checker<'_> {
    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let mut found = Vec::new();
        self.check(schema, value, "", &mut found);
        found.is_empty()
    }

    fn check(&self, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
        let keywords = schema.as_object().unwrap_or_else(|| panic!("{schema} is no schema"));
        for (keyword, wanted) in keywords {
            if !self.is_met(keyword, wanted, schema, value, path, found) {
                found.push(format!("{path}: {keyword}"));
            }
        }
    }

    /// Whether one keyword is; what lies deeper is found at its own path.
    fn is_met(
        &self,
        keyword: &str,
        wanted: &Value,
        schema: &Value,
        value: &Value,
        path: &str,
        found: &mut Vec<String>,
    ) -> bool {
        let length = value.as_array().map(Vec::len).or(value.as_object().map(Map::len));
        let alternatives = || wanted.as_array().into_iter().flatten();
        match keyword {
            "$schema" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let pointer = wanted.as_str().and_then(|reference| reference.strip_prefix('#'));
                let target = pointer.and_then(|pointer| self.root.pointer(pointer));
                let target = target.unwrap_or_else(|| panic!("{wanted} leads nowhere"));
                self.check(target, value, path, found);
            }
            "type" => return words(wanted).iter().any(|name| is_of(name, value)),
            "enum" => return alternatives().any(|known| known == value),
            "const" => return wanted == value,
            "minimum" => return value.as_f64() >= wanted.as_f64() || !value.is_number(),
            "maximum" => return value.as_f64() <= wanted.as_f64() || !value.is_number(),
            "minItems" | "minProperties" => {
                return length.is_none_or(|length| Some(length as u64) >= wanted.as_u64());
            }
            "required" => return words(wanted).iter().all(|name| value.get(name).is_some()),
            "anyOf" => return alternatives().any(|schema| self.fits(schema, value)),
            "oneOf" => return alternatives().filter(|schema| self.fits(schema, value)).count() == 1,
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    self.check(wanted, item, &format!("{path}[{index}]"), found);
                }
            }
            "properties" => {
                for (name, property) in wanted.as_object().into_iter().flatten() {
                    if let Some(value) = value.get(name) {
                        self.check(property, value, &format!("{path}.{name}"), found);
                    }
                }
            }
            "additionalProperties" => {
                let is_known = |name: &str| schema["properties"].get(name).is_some();
                for (name, value) in value.as_object().into_iter().flatten() {
                    match wanted {
                        _ if is_known(name) => {}
                        Value::Bool(false) => found.push(format!("{path}: unknown {name}")),
                        other => self.check(other, value, &format!("{path}.{name}"), found),
                    }
                }
            }
            other => panic!("the checker does not know {other}"),
        }
        true
    }
}

/// The words of a list, or the one that is no list.
fn words(value: &Value) -> Vec<&str> {
    value.as_array().map_or_else(
        || value.as_str().into_iter().collect(),
        |list| list.iter().filter_map(Value::as_str).collect(),
    )
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        other => panic!("the checker does not know the type {other}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_keyword_is_checked() {
        let word = json!({"type": "string"});
        let table = [
            (json!({"type": ["string", "null"]}), json!(null), &[][..]),
            (json!({"type": "integer"}), json!(0.5), &["$: type"]),
            (json!({"enum": ["a", "b"]}), json!("c"), &["$: enum"]),
            (json!({"const": 1}), json!(2), &["$: const"]),
            (json!({"minimum": 1, "maximum": 3}), json!(0), &["$: minimum"]),
            (json!({"minimum": 1, "maximum": 3}), json!(4), &["$: maximum"]),
            (json!({"minimum": 1}), json!("text"), &[]),
            (json!({"minItems": 1}), json!([]), &["$: minItems"]),
            (json!({"minProperties": 2}), json!({"a": 1}), &["$: minProperties"]),
            (json!({"required": ["a"]}), json!({}), &["$: required"]),
            (json!({"anyOf": [word, {"type": "null"}]}), json!(1), &["$: anyOf"]),
            (json!({"oneOf": [word, {"type": ["string", "null"]}]}), json!("a"), &["$: oneOf"]),
            (json!({"items": word}), json!(["a", 1]), &["$[1]: type"]),
            (json!({"properties": {"a": word}}), json!({"a": 1, "b": 1}), &["$.a: type"]),
            (
                json!({"properties": {"a": {}}, "additionalProperties": false}),
                json!({"b": 1}),
                &["$: unknown b"],
            ),
            (json!({"additionalProperties": word}), json!({"b": 1}), &["$.b: type"]),
            (json!({"$ref": "#/$defs/word", "$defs": {"word": word}}), json!(1), &["$: type"]),
        ];
        for (schema, value, expected) in table {
            assert_eq!(violations(&schema, &value), expected, "{schema}");
        }
    }

    #[test]
    #[should_panic(expected = "does not know pattern")]
    fn a_keyword_that_is_not_known_is_no_pass() {
        violations(&json!({"pattern": "a"}), &json!("b"));
    }
}
