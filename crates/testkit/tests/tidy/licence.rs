//! Licences of everything that is built in, held against a short list.

use serde_json::Value;

use crate::metadata::{list, text};

/// Permissive licences only: none asks anything of a program that links to it but its notice.
const ALLOWED: [&str; 10] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
];

/// The packages whose licence is not on the list.
pub(crate) fn faults(metadata: &Value) -> Vec<String> {
    let packages = list(metadata, "packages").iter();
    let unlicensed = packages.filter(|package| !package["license"].as_str().is_some_and(is_allowed));
    unlicensed
        .map(|package| {
            let (name, version) = (text(package, "name"), text(package, "version"));
            let licence = package["license"].as_str().unwrap_or("no licence");
            format!(
                "{name} {version}: {licence}: do without it, or add the licence to the list with a reason"
            )
        })
        .collect()
}

/// Whether an SPDX expression can be met with the licences on the list.
pub(crate) fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let met = any(&mut words);
    met && words.next().is_none()
}

type Words<'a, 'b> = &'a mut std::iter::Peekable<std::str::SplitWhitespace<'b>>;

fn any(words: Words) -> bool {
    let mut met = all(words);
    while words.next_if_eq(&"OR").is_some() {
        met |= all(words);
    }
    met
}

fn all(words: Words) -> bool {
    let mut met = one(words);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words);
    }
    met
}

fn one(words: Words) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let met = any(words);
        return words.next() == Some(")") && met;
    }
    let met = words.next().is_some_and(|name| ALLOWED.contains(&name));
    // An exception only ever adds a permission, so the licence alone decides.
    if words.next_if_eq(&"WITH").is_some() {
        return words.next().is_some() && met;
    }
    met
}

#[test]
fn expressions_are_understood() {
    let table = [
        ("MIT", true),
        ("MIT OR Apache-2.0", true),
        ("MIT/Apache-2.0", true),
        ("GPL-3.0-only OR MIT", true),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", true),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("GPL-3.0-only", false),
        ("MIT AND GPL-3.0-only", false),
        ("GPL-2.0-only WITH Classpath-exception-2.0", false),
        ("(MIT OR Apache-2.0) AND GPL-3.0-only", false),
        ("GPL-3.0-only AND MIT OR AGPL-3.0-only", false),
        ("(MIT", false),
        ("MIT MIT", false),
        ("", false),
    ];
    for (expression, allowed) in table {
        assert_eq!(is_allowed(expression), allowed, "{expression}");
    }
}

#[test]
fn a_bad_licence_is_named() {
    let metadata = serde_json::json!({ "packages": [
        { "name": "fine", "version": "1.0.0", "license": "MIT" },
        { "name": "copyleft", "version": "2.0.0", "license": "AGPL-3.0-only" },
        { "name": "silent", "version": "3.0.0", "license": null },
    ]});
    let faults = faults(&metadata);
    let starts: Vec<_> = faults.iter().map(|fault| fault.split(": do").next().unwrap()).collect();
    assert_eq!(starts, ["copyleft 2.0.0: AGPL-3.0-only", "silent 3.0.0: no licence"]);
}
