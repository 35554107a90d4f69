//! What cargo says about the packages that this machine builds.

use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::workspace;

/// The output of `cargo metadata` for this target, read once.
pub(crate) fn get() -> &'static Value {
    static METADATA: OnceLock<Value> = OnceLock::new();
    METADATA.get_or_init(|| {
        let target = host();
        let args = ["metadata", "--format-version=1", "--locked", "--offline", "--filter-platform", &target];
        serde_json::from_str(&output(env!("CARGO"), &args)).expect("cargo writes JSON")
    })
}

fn host() -> String {
    let rustc = output("rustc", &["-vV"]);
    let line = rustc.lines().find_map(|line| line.strip_prefix("host: "));
    line.expect("rustc names its host").to_owned()
}

fn output(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).current_dir(workspace::root()).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

/// The elements of an array field; none where the field is absent.
pub(crate) fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

/// A text field.
pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no text `{field}` in {value}"))
}
