//! Checks JSON against the schema, with the keywords that it uses and no others.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::examples::{examples, job};

/// Where the value is not what the schema says.
pub fn violations(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(&trueup_job::schema(), value, "$", &mut found);
    found
}

fn fits(schema: &Value, value: &Value) -> bool {
    let mut found = Vec::new();
    check(schema, value, "", &mut found);
    found.is_empty()
}

fn check(schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    for (keyword, wanted) in schema.as_object().unwrap() {
        let length = value.as_array().map(Vec::len).or(value.as_object().map(serde_json::Map::len));
        let schemas = || wanted.as_array().unwrap().iter();
        let is_met = match keyword.as_str() {
            "$schema" | "title" | "description" => true,
            "type" => names(wanted).iter().any(|name| is_of(name, value)),
            "enum" => wanted.as_array().unwrap().contains(value),
            "const" => wanted == value,
            "minimum" => value.as_u64().is_none_or(|number| number >= wanted.as_u64().unwrap()),
            "maximum" => value.as_u64().is_none_or(|number| number <= wanted.as_u64().unwrap()),
            "minItems" | "minProperties" => {
                length.is_none_or(|length| length as u64 >= wanted.as_u64().unwrap())
            }
            "required" => names(wanted).iter().all(|name| value.get(name).is_some()),
            "anyOf" => schemas().any(|schema| fits(schema, value)),
            "oneOf" => schemas().filter(|schema| fits(schema, value)).count() == 1,
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(wanted, item, &format!("{path}[{index}]"), found);
                }
                true
            }
            "properties" => {
                for (name, property) in wanted.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        check(property, value, &format!("{path}.{name}"), found);
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = |name: &String| schema["properties"].get(name).is_some();
                for (name, value) in value.as_object().into_iter().flatten().filter(|(name, _)| !known(name))
                {
                    match wanted {
                        Value::Bool(false) => found.push(format!("{path}: unknown {name}")),
                        other => check(other, value, &format!("{path}.{name}"), found),
                    }
                }
                true
            }
            other => panic!("the checker does not know {other}"),
        };
        if !is_met {
            found.push(format!("{path}: {keyword}"));
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
        other => panic!("the checker does not know the type {other}"),
    }
}

/// The names of all fields, and the words that fields take.
pub fn fields_and_words(schema: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut fields, mut words) = (BTreeSet::new(), BTreeSet::new());
    let mut open = vec![schema];
    while let Some(next) = open.pop() {
        if let Some(properties) = next.get("properties").and_then(Value::as_object) {
            fields.extend(properties.keys().cloned());
        }
        if let Some(known) = next.get("enum") {
            words.extend(names(known).into_iter().map(str::to_owned));
        }
        open.extend(next.as_object().into_iter().flat_map(|members| members.values()));
        open.extend(next.as_array().into_iter().flatten());
    }
    (fields, words)
}

/// Every name of a member, at any depth.
fn members_of(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.keys().cloned());
            members.values().for_each(|member| members_of(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| members_of(item, found)),
        _ => {}
    }
}

#[test]
fn every_field_of_the_schema_is_read_and_written() {
    let connections = json!({
        "gs": {"type": "gs", "service_account": "${env:GS}"},
        "s3": {"type": "s3", "session_token": "${env:TOKEN}"},
        "az": {"type": "az", "account": "acc", "access_key": "${env:KEY}", "sas_token": "${env:SAS}"},
        "http": {"type": "http", "user": "me", "password": "${env:PW}", "token": "${env:TOKEN}"},
    });
    let rest = json!({
        "name": "rest", "connections": connections, "key": ["id"], "ignore": ["a"],
        "sources": {"a": {"file": "a.csv"}, "b": {"file": "b.csv"}},
    });
    let mut written = BTreeSet::new();
    for text in examples().into_iter().map(str::to_owned).chain([rest.to_string()]) {
        members_of(&job(&text).document(), &mut written);
    }
    let (fields, _) = fields_and_words(&trueup_job::schema());
    // The short form is written as the long one.
    let unwritten: Vec<&String> = fields.iter().filter(|field| !written.contains(*field)).collect();
    assert_eq!(unwritten, ["key"]);
}

#[test]
fn the_checker_finds_what_is_wrong() {
    let found =
        violations(&json!({"sources": {"a": {"fiel": "a"}}, "retries": 101, "strategy": "SOME", "keys": 1}));
    for expected in
        ["$: required", "$: unknown keys", "$.retries: maximum", "$.strategy: enum", "$.sources: anyOf"]
    {
        assert!(found.iter().any(|it| it == expected), "{found:?}");
    }
}
