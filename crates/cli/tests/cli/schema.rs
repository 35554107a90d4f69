//! Checks JSON against docs/diff.schema.json.

use serde_json::Value;

/// Where the value is not what the schema says.
pub(crate) fn violations(value: &Value) -> Vec<String> {
    let text = include_str!("../../../../docs/diff.schema.json");
    trueup_testkit::violations(&serde_json::from_str(text).unwrap(), value)
}

#[test]
fn the_schema_finds_what_is_wrong() {
    let found = violations(&serde_json::json!({"result": "MAYBE", "rows_compared": -1, "more": 1}));
    for expected in ["$.result: enum", "$.rows_compared: minimum", "$: required", "$: unknown more"] {
        assert!(found.iter().any(|it| it == expected), "{found:?}");
    }
}
