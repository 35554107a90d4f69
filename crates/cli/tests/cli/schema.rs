//! Checks JSON against docs/diff.schema.json, with the keywords that it uses and no others.

use serde_json::Value;

/// Where the value is not what the schema says.
pub fn violations(value: &Value) -> Vec<String> {
    let text = include_str!("../../../../docs/diff.schema.json");
    let schema: Value = serde_json::from_str(text).unwrap();
    let mut found = Vec::new();
    check(&schema, &schema, value, "$", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    for (keyword, wanted) in schema.as_object().unwrap() {
        let fits = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "additionalProperties" => true,
            "$ref" => {
                let pointer = wanted.as_str().unwrap().strip_prefix('#').unwrap();
                check(root, root.pointer(pointer).unwrap(), value, path, found);
                true
            }
            "type" => names(wanted).iter().any(|name| is_of(name, value)),
            "enum" => wanted.as_array().unwrap().contains(value),
            "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().unwrap()),
            "required" => names(wanted).iter().all(|name| value.get(name).is_some()),
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, wanted, item, &format!("{path}[{index}]"), found);
                }
                true
            }
            "properties" => {
                for (name, property) in wanted.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        check(root, property, value, &format!("{path}.{name}"), found);
                    }
                }
                true
            }
            other => panic!("the checker does not know {other}"),
        };
        if !fits {
            found.push(format!("{path}: {keyword}"));
        }
    }
    check_other_properties(root, schema, value, path, found);
}

fn check_other_properties(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    let (Some(rest), Some(object)) = (schema.get("additionalProperties"), value.as_object()) else {
        return;
    };
    let known = |name: &String| schema.get("properties").is_some_and(|known| known.get(name).is_some());
    for (name, value) in object.iter().filter(|(name, _)| !known(name)) {
        match rest {
            Value::Bool(false) => found.push(format!("{path}: unknown {name}")),
            other => check(root, other, value, &format!("{path}.{name}"), found),
        }
    }
}

fn names(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(names) => names.iter().map(|name| name.as_str().unwrap()).collect(),
        name => vec![name.as_str().unwrap()],
    }
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

#[test]
fn the_checker_finds_what_is_wrong() {
    let found = violations(&serde_json::json!({"result": "MAYBE", "rows_compared": -1, "more": 1}));
    for expected in ["$.result: enum", "$.rows_compared: minimum", "$: required", "$: unknown more"] {
        assert!(found.iter().any(|it| it == expected), "{found:?}");
    }
}
