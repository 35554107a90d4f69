//! Checks JSON against the schema, and the schema against what is read and written.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::examples::{examples, job};

/// Where the value is not what the schema says.
pub(crate) fn violations(value: &Value) -> Vec<String> {
    trueup_testkit::violations(&trueup_job::schema(), value)
}

/// The names of all fields, and the words that fields take.
pub(crate) fn fields_and_words(schema: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut fields, mut words) = (BTreeSet::new(), BTreeSet::new());
    let mut open = vec![schema];
    while let Some(next) = open.pop() {
        if let Some(properties) = next.get("properties").and_then(Value::as_object) {
            fields.extend(properties.keys().cloned());
        }
        if let Some(known) = next.get("enum") {
            words.extend(known.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()));
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
fn the_schema_finds_what_is_wrong() {
    let found =
        violations(&json!({"sources": {"a": {"fiel": "a"}}, "retries": 101, "strategy": "SOME", "keys": 1}));
    for expected in
        ["$: required", "$: unknown keys", "$.retries: maximum", "$.strategy: enum", "$.sources: anyOf"]
    {
        assert!(found.iter().any(|it| it == expected), "{found:?}");
    }
}
