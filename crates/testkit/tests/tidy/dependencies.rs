//! What the crates depend on: nothing unused, and not too much.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::metadata::{list, text};
use crate::source::Source;

/// Dependencies that no source of their crate names.
pub(crate) fn unused(metadata: &Value, files: &[Source]) -> Vec<String> {
    let members = list(metadata, "workspace_members");
    let mut faults = Vec::new();
    for package in list(metadata, "packages").iter().filter(|package| members.contains(&package["id"])) {
        let folder = folder_of(package, text(metadata, "workspace_root"));
        for dependency in list(package, "dependencies") {
            let name = dependency["rename"].as_str().unwrap_or(text(dependency, "name"));
            let kind = dependency["kind"].as_str().unwrap_or("normal");
            if !files.iter().any(|file| file.path.starts_with(&folder) && uses(file, &folder, kind, name)) {
                faults.push(format!("{folder}Cargo.toml: `{name}` ({kind}) is unused: remove it, or make it a dev-dependency if only tests need it"));
            }
        }
    }
    faults
}

/// The folder of a package below the root, with a slash at its end.
fn folder_of(package: &Value, root: &str) -> String {
    let manifest = text(package, "manifest_path").strip_prefix(root).expect("a member is below the root");
    manifest.trim_start_matches('/').trim_end_matches("Cargo.toml").to_owned()
}

/// Whether a file names a dependency in a place where one of its kind counts.
fn uses(file: &Source, folder: &str, kind: &str, name: &str) -> bool {
    let name = name.replace('-', "_");
    let is_build = file.path[folder.len()..] == *"build.rs";
    let mut words = file.words().filter(|word| word.text == name);
    file.is_rust()
        && match kind {
            "normal" => !is_build && words.any(|word| file.ships(word.at)),
            "build" => is_build && words.next().is_some(),
            _ => words.next().is_some(),
        }
}

/// Crates of the workspace that a crate may build on; tests may use any.
const LAYERS: [(&str, &[&str]); 12] = [
    ("trueup-compare", &[]),
    ("trueup-connect", &[]),
    ("trueup-control", &["trueup-events", "trueup-lifecycle", "trueup-store"]),
    ("trueup-events", &[]),
    ("trueup-extract", &["trueup-connect"]),
    ("trueup-job", &[]),
    ("trueup-lifecycle", &["trueup-events"]),
    ("trueup-reconcile", &["trueup-compare", "trueup-events", "trueup-extract", "trueup-job"]),
    ("trueup-server", &["trueup-control", "trueup-events", "trueup-job", "trueup-lifecycle", "trueup-store"]),
    ("trueup-store", &["trueup-connect", "trueup-events", "trueup-lifecycle"]),
    (
        "trueup-cli",
        &[
            "trueup-compare",
            "trueup-control",
            "trueup-events",
            "trueup-extract",
            "trueup-job",
            "trueup-lifecycle",
            "trueup-reconcile",
            "trueup-server",
            "trueup-store",
        ],
    ),
    ("trueup-testkit", &[]),
];

/// Dependencies between crates of the workspace that [`LAYERS`] does not have.
pub(crate) fn crossed_layers(metadata: &Value) -> Vec<String> {
    let members = list(metadata, "workspace_members");
    let mut faults = Vec::new();
    for package in list(metadata, "packages").iter().filter(|package| members.contains(&package["id"])) {
        let name = text(package, "name");
        let below = LAYERS.iter().find(|(layer, _)| *layer == name).map_or(&[][..], |(_, below)| below);
        let built = list(package, "dependencies").iter().filter(|dependency| dependency["kind"] != "dev");
        let ours =
            built.map(|dependency| text(dependency, "name")).filter(|other| other.starts_with("trueup-"));
        faults.extend(ours.filter(|other| !below.contains(other)).map(|other| {
            format!(
                "{name}: may not know `{other}`: wire them in `cli`, or say in ARCHITECTURE.md why it must"
            )
        }));
    }
    faults
}

/// Entries of `[workspace.dependencies]` that no crate takes.
pub(crate) fn unused_in_workspace(files: &[Source]) -> Vec<String> {
    let root = files.iter().find(|file| file.path == "Cargo.toml").expect("there is a root manifest");
    let section = root.text.lines().skip_while(|line| *line != "[workspace.dependencies]").skip(1);
    let names = section.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once(" = "));
    let takes = |file: &Source, name: &str| {
        let plain = format!("{name}.workspace = true");
        let detailed = format!("{name} = {{ workspace = true");
        file.text.lines().any(|line| line.starts_with(&plain) || line.starts_with(&detailed))
    };
    let is_taken =
        |name: &str| files.iter().any(|file| file.path.ends_with("/Cargo.toml") && takes(file, name));
    let unused = names.map(|(name, _)| name).filter(|name| !is_taken(name));
    unused.map(|name| format!("Cargo.toml: `{name}`: no crate takes it: remove it")).collect()
}

/// Every crate that is built for a package, itself included, tests and benchmarks aside.
pub(crate) fn tree(metadata: &Value, package: &str) -> BTreeSet<String> {
    let nodes: BTreeMap<_, _> =
        list(&metadata["resolve"], "nodes").iter().map(|node| (text(node, "id"), node)).collect();
    let mut packages = list(metadata, "packages").iter();
    let start = packages.find(|candidate| text(candidate, "name") == package);
    let mut open = vec![text(start.unwrap_or_else(|| panic!("no package {package}")), "id")];
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id.to_owned()) {
            continue;
        }
        let is_built = |dep: &&Value| list(dep, "dep_kinds").iter().any(|kind| kind["kind"] != "dev");
        open.extend(list(nodes[id], "deps").iter().filter(is_built).map(|dep| text(dep, "pkg")));
    }
    seen
}

#[test]
fn unused_dependencies_are_named() {
    let depends =
        |name: &str, kind: Option<&str>| serde_json::json!({ "name": name, "kind": kind, "rename": null });
    let metadata = serde_json::json!({
        "workspace_root": "/r",
        "workspace_members": ["a"],
        "packages": [{
            "id": "a",
            "name": "a",
            "manifest_path": "/r/crates/a/Cargo.toml",
            "dependencies": [
                depends("used-here", None),
                depends("only-in-tests", None),
                depends("only-in-comments", None),
                depends("in-tests", Some("dev")),
                depends("nowhere", Some("dev")),
            ],
        }],
    });
    let files = [
        Source::new("crates/a/src/lib.rs", "//! only_in_comments\nuse used_here::X;\n"),
        Source::new("crates/a/tests/t.rs", "//! T.\nuse in_tests::X;\nuse only_in_tests::Y;\n"),
        Source::new("crates/b/src/lib.rs", "//! B.\nuse nowhere::X;\n"),
    ];
    let faults = unused(&metadata, &files);
    let names: Vec<_> = faults.iter().map(|fault| fault.split('`').nth(1).unwrap()).collect();
    assert_eq!(names, ["only-in-tests", "only-in-comments", "nowhere"]);
}

#[test]
fn crossed_layers_are_named() {
    let package = |name: &str, depends: &[Value]| serde_json::json!({ "id": name, "name": name, "dependencies": depends });
    let on = |name: &str, kind: Option<&str>| serde_json::json!({ "name": name, "kind": kind });
    let metadata = serde_json::json!({
        "workspace_members": ["trueup-cli", "trueup-compare", "trueup-extract", "trueup-new"],
        "packages": [
            package("trueup-cli", &[on("trueup-compare", None), on("clap", None)]),
            package("trueup-compare", &[on("trueup-extract", Some("dev"))]),
            package("trueup-extract", &[on("trueup-compare", None)]),
            package("trueup-new", &[on("trueup-testkit", None)]),
        ],
    });
    let faults = crossed_layers(&metadata);
    let starts: Vec<_> = faults.iter().map(|fault| fault.split(": wire").next().unwrap()).collect();
    assert_eq!(
        starts,
        ["trueup-extract: may not know `trueup-compare`", "trueup-new: may not know `trueup-testkit`"]
    );
}

#[test]
fn unused_workspace_entries_are_named() {
    let root =
        "[workspace.dependencies]\na = \"1\"\nb = { version = \"1\" }\nb-c = \"1\"\n\n[profile.dev]\nd = 1\n";
    let member = "[dependencies]\na.workspace = true\nb-c = { workspace = true, features = [] }\n";
    let files = [Source::new("Cargo.toml", root), Source::new("crates/a/Cargo.toml", member)];
    assert_eq!(unused_in_workspace(&files), ["Cargo.toml: `b`: no crate takes it: remove it"]);
}

#[test]
fn a_tree_leaves_out_what_only_tests_need() {
    let dep = |id: &str, kind: Value| serde_json::json!({ "pkg": id, "dep_kinds": [{ "kind": kind }] });
    let metadata = serde_json::json!({
        "packages": [{ "name": "a", "id": "a" }],
        "resolve": { "nodes": [
            { "id": "a", "deps": [dep("b", Value::Null), dep("t", "dev".into())] },
            { "id": "b", "deps": [dep("c", "build".into())] },
            { "id": "c", "deps": [] },
            { "id": "t", "deps": [] },
        ]},
    });
    assert_eq!(tree(&metadata, "a").into_iter().collect::<Vec<_>>(), ["a", "b", "c"]);
}
