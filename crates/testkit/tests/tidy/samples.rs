//! Shows that each rule can fail: small bad samples, and good ones that come close.

use crate::rules::{self, Rule};
use crate::source::Source;

/// A rule, a path, a text, and the lines at fault.
type Sample = (Rule, &'static str, &'static str, &'static [usize]);

const LIB: &str = "crates/extract/src/lib.rs";
const TEST: &str = "crates/extract/tests/csv.rs";

const SAMPLES: &[Sample] = &[
    (rules::module_doc, LIB, "//! Reads.\nfn f() {}\n", &[]),
    (rules::module_doc, LIB, "fn f() {}\n", &[1]),
    (rules::module_doc, LIB, "// Reads.\n", &[1]),
    (rules::module_doc, "README.md", "# Title\n", &[]),
    (rules::banner, LIB, "//! Reads.\n// ==== Parsing ====\nfn f() {}\n", &[2]),
    (rules::banner, LIB, "// --------\n//////////\n/* **** */\n", &[1, 2, 3]),
    (rules::banner, LIB, "//! | a | b |\n//! | ---- | ---- |\nconst RULE: &str = \"// ====\";\n", &[]),
    (rules::banner, "bench/compare", "#!/usr/bin/env bash\n# ---- data\n", &[2]),
    (rules::banner, "README.md", "#### Deep\n", &[]),
    (rules::unfinished, LIB, "fn f() {\n    todo!()\n}\n", &[2]),
    (rules::unfinished, LIB, "fn f() {\n    dbg!(1);\n    unimplemented!();\n}\n", &[2, 3]),
    (rules::unfinished, TEST, "#[test]\n#[ignore = \"slow\"]\nfn f() {}\n", &[2]),
    (rules::unfinished, LIB, "/// ```ignore\n/// f();\n/// ```\nfn f() {}\n", &[1]),
    (rules::unfinished, LIB, "// todo!\nlet ignore = \"dbg!(x)\";\n", &[]),
    (rules::item_name, LIB, "struct RunManager;\nfn handle_row() {}\nfn process_all() {}\n", &[1, 2, 3]),
    (rules::item_name, LIB, "enum Kind { Service }\nfn rehandle_row() {}\n", &[]),
    (rules::module_name, "crates/utils/src/lib.rs", "//! Things.\n", &[1]),
    (rules::module_name, "crates/cli/src/helpers.rs", "//! Things.\n", &[1]),
    (rules::module_name, LIB, "//! Reads.\nmod types {\n}\nmod typeset;\n", &[2]),
    (rules::allowed_lint, LIB, "#![allow(dead_code)]\n#[allow(unused)]\nfn f() {}\n", &[1, 2]),
    (rules::allowed_lint, LIB, "#[expect(unused, reason = \"no\")]\nfn allow() { allow() }\n", &[]),
    (rules::sql, LIB, "const Q: &str =\n    \"SELECT a FROM b\";\n", &[2]),
    (rules::sql, LIB, "const Q: &str = r#\"\n  INSERT INTO t VALUES (1)\n\"#;\n", &[2]),
    (
        rules::sql,
        LIB,
        "const Q: &str = \"UPDATE t SET a = 1\";\nconst D: &str = \"DELETE FROM t\";\n",
        &[1, 2],
    ),
    (rules::sql, LIB, "// SELECT a FROM b\nconst H: &str = \"select columns from a file\";\n", &[]),
    (rules::sql, "crates/store/src/lib.rs", "const Q: &str = \"SELECT a FROM b\";\n", &[]),
    (rules::environment, LIB, "fn f() {\n    std::env::var(\"A\");\n}\n", &[2]),
    (rules::environment, LIB, "use std::{env, fs};\nfn f() {\n    env::temp_dir();\n}\n", &[3]),
    (rules::environment, LIB, "#[cfg(test)]\nmod tests {\n    use std::env;\n}\n", &[]),
    (rules::environment, LIB, "const V: &str = env!(\"CARGO_PKG_VERSION\");\n", &[]),
    (rules::environment, "crates/cli/src/main.rs", "use std::env;\n", &[]),
    (rules::sleeping, TEST, "fn f() {\n    std::thread::sleep(SECOND);\n}\n", &[2]),
    (rules::sleeping, LIB, "fn f() {}\n#[cfg(test)]\nmod tests {\n    fn g() { sleep(1) }\n}\n", &[4]),
    (rules::sleeping, LIB, "fn f() { thread::sleep(BACKOFF) }\n", &[]),
    (rules::machine_path, "docs/a.md", "run it\nin /home/me/trueup\n", &[2]),
    (rules::machine_path, LIB, "const D: &str = \"/root\";\nconst E: &str = \"/work/x\";\n", &[1, 2]),
    (
        rules::machine_path,
        LIB,
        "let a = \"$base/work/x\"; let b = \"${x}/home/y\"; let c = \"/rooted\";\n",
        &[],
    ),
    (rules::registry, "docs/a.md", "see\nhttps://pypi.org/project/duckdb\n", &[2]),
    (rules::registry, "crates/cli/Cargo.toml", "registry = \"https://index.crates.io\"\n", &[1]),
    (
        rules::registry,
        "Cargo.lock",
        "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n",
        &[],
    ),
];

fn lines_at_fault(rule: Rule, path: &str, text: &str) -> Vec<usize> {
    let line = |fault: &String| {
        let rest =
            fault.strip_prefix(path).and_then(|rest| rest.strip_prefix(':')).expect("it names the file");
        rest.split(':').next().unwrap_or_default().parse().expect("it names the line")
    };
    rule(&Source::new(path, text)).iter().map(line).collect()
}

#[test]
fn each_rule_finds_its_samples() {
    for (rule, path, text, lines) in SAMPLES {
        assert_eq!(lines_at_fault(*rule, path, text), *lines, "{path}:\n{text}");
    }
}

#[test]
fn sizes_are_counted_before_the_tests() {
    let tests = "#[cfg(test)]\nmod tests {\n}\n";
    let elsewhere = "#[cfg(test)]\nmod tests;\n";
    let line = "const A: u8 = 1;\n";
    let function = |lines: usize| format!("fn f() {{\n{}}}\n", "    g();\n".repeat(lines - 2));
    let table: [(Rule, &str, String, &[usize]); 9] = [
        (rules::file_length, LIB, line.repeat(500), &[]),
        (rules::file_length, LIB, line.repeat(501), &[1]),
        (rules::file_length, LIB, line.repeat(500) + tests + &line.repeat(9), &[]),
        (rules::file_length, LIB, elsewhere.to_owned() + &line.repeat(499), &[1]),
        (rules::file_length, TEST, line.repeat(501), &[]),
        (rules::function_length, LIB, function(70), &[]),
        (rules::function_length, LIB, function(71) + &function(80), &[1, 72]),
        (rules::function_length, LIB, tests.to_owned() + &function(71), &[]),
        (rules::function_length, TEST, function(71), &[]),
    ];
    for (at, (rule, path, text, lines)) in table.iter().enumerate() {
        assert_eq!(lines_at_fault(*rule, path, text), *lines, "row {at}");
    }
}

#[test]
fn only_the_body_of_a_function_is_counted() {
    let filler = "const A: u8 = 1;\n".repeat(80);
    let shapes = [
        "trait T {\n    fn f(&self);\n}\n",
        "type F = fn(&str) -> bool;\n",
        "struct S {\n    f: fn(u8) -> u8,\n}\n",
        "const fn f() -> [u8; 3] {\n    [1, 2, 3]\n}\n",
        "fn f() {\n    let open = ('{', \"{\", r#\"{\"#, b'{', '\\'');\n    // {\n}\n",
        "fn f<'a>(x: &'a str) -> &'a str where 'a: 'static {\n    x\n}\n",
    ];
    for shape in shapes {
        let text = format!("{shape}{filler}");
        assert_eq!(lines_at_fault(rules::function_length, LIB, &text), [0; 0], "{shape}");
    }
}

#[test]
fn the_code_map_names_each_crate_and_no_other() {
    let crates = ["cli".to_owned(), "compare".to_owned()];
    let table = [
        ("`crates/cli` and `crates/compare/src`", 0),
        ("`crates/cli`", 1),
        ("`crates/cli`, `crates/compare`, `crates/gone`", 1),
        ("crates", 2),
    ];
    for (map, faults) in table {
        assert_eq!(rules::code_map(&crates, &Source::new("ARCHITECTURE.md", map)).len(), faults, "{map}");
    }
}
