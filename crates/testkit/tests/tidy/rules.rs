//! The rules about text: each takes one file and says what is wrong with it, and what to do.

use crate::source::{self, Source, Word, line_at};
use crate::workspace::crate_of;

/// Finds the faults of one file, each as `file:line: what to do`.
pub(crate) type Rule = fn(&Source) -> Vec<String>;

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;

/// The rules and their samples have to spell what they forbid.
const RULES_THEMSELVES: &str = "crates/testkit/tests/tidy/";

pub(crate) fn file_length(file: &Source) -> Vec<String> {
    let lines = file.lines_before_tests;
    let long = !file.is_test() && lines > FILE_LINES_MAX;
    let problem = format!("{lines} lines, at most {FILE_LINES_MAX}: split it by noun or verb");
    if long { vec![file.fault_on(1, &problem)] } else { Vec::new() }
}

pub(crate) fn function_length(file: &Source) -> Vec<String> {
    let starts = file.words().filter(|word| word.text == "fn" && file.ships(word.at));
    starts
        .filter_map(|word| {
            let end = body_end(&file.code[word.at..])? + word.at;
            let lines = line_at(&file.code, end) - line_at(&file.code, word.at) + 1;
            let problem = format!("{lines} lines in one function, at most {FUNCTION_LINES_MAX}: split it");
            (lines > FUNCTION_LINES_MAX).then(|| file.fault(word.at, &problem))
        })
        .collect()
}

/// The offset of the brace that closes the function that starts here; none where there is no body.
fn body_end(code: &str) -> Option<usize> {
    let (mut braces, mut brackets) = (0, 0);
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets -= 1,
            '{' => braces += 1,
            '}' => braces -= 1,
            ';' | ',' | '=' if braces == 0 && brackets == 0 && ends_signature(code, at) => return None,
            _ => continue,
        }
        if braces == 0 && c == '}' && brackets == 0 {
            return Some(at);
        }
        if brackets < 0 || braces < 0 {
            return None;
        }
    }
    None
}

/// Whether a mark outside all brackets shows that there is no body: a function pointer, or a method without one.
fn ends_signature(code: &str, at: usize) -> bool {
    let is_pointer = code["fn".len()..].trim_start().starts_with('(');
    code[at..].starts_with(';') || is_pointer
}

pub(crate) fn module_doc(file: &Source) -> Vec<String> {
    let bare = file.is_rust() && !file.text.starts_with("//! ");
    if bare {
        vec![file.fault_on(1, "open the module with `//!` and its job in one line")]
    } else {
        Vec::new()
    }
}

pub(crate) fn banner(file: &Source) -> Vec<String> {
    let marked = |line: &str| {
        let line = line.trim_start();
        let body = line.trim_start_matches(['/', '!', '#', '*']).trim_start();
        let comment = line.starts_with("//") || line.starts_with("/*") || line.starts_with('#');
        comment && (line.starts_with("////") || line.starts_with("####") || is_ruled(body))
    };
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let lines = match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("rs") => &file.comments,
        Some("toml" | "py" | "sh" | "sql" | "yml") | None => &file.text,
        Some(_) => return Vec::new(),
    };
    let faulty = lines.lines().enumerate().filter(|(_, line)| marked(line));
    faulty.map(|(at, _)| file.fault_on(at + 1, "no banners: delete the line, or split the file")).collect()
}

/// Whether a text opens with four of the same rule mark.
fn is_ruled(body: &str) -> bool {
    ["====", "----", "****", "~~~~", "____", "####", "————", "────"].iter().any(|rule| body.starts_with(rule))
}

pub(crate) fn unfinished(file: &Source) -> Vec<String> {
    let is_macro = |word: &Word| {
        matches!(word.text, "todo" | "unimplemented" | "dbg")
            && file.after(word.at + word.text.len()).starts_with('!')
    };
    let is_ignored = |word: &Word| word.text == "ignore" && file.code[..word.at].ends_with("#[");
    let words = file.words().filter(|word| is_macro(word) || is_ignored(word));
    let in_code = words.map(|word| file.fault(word.at, &format!("finish it: no `{}`", word.text)));
    let is_untested = |line: &str| line.contains("```ignore");
    let lines = file.comments.lines().enumerate().filter(|(_, line)| is_untested(line));
    let in_docs = lines.map(|(at, _)| file.fault_on(at + 1, "make the example run, or mark it as text"));
    in_code.chain(in_docs).collect()
}

pub(crate) fn item_name(file: &Source) -> Vec<String> {
    let is_vague = |kind: &str, name: &str| match kind {
        "struct" | "enum" | "trait" | "type" => {
            ["Manager", "Handler", "Processor", "Service"].iter().any(|vague| name.contains(vague))
        }
        "fn" => name.starts_with("process_") || name.starts_with("handle_"),
        _ => false,
    };
    let pairs = file.words().zip(file.words().skip(1));
    pairs
        .filter(|(kind, name)| is_vague(kind.text, name.text))
        .map(|(_, name)| file.fault(name.at, &format!("`{}` says nothing: use a domain word", name.text)))
        .collect()
}

pub(crate) fn module_name(file: &Source) -> Vec<String> {
    let is_vague = |name: &str| {
        matches!(name, "core" | "common" | "utils" | "util" | "types" | "models" | "helpers" | "misc")
    };
    if !file.is_rust() {
        return Vec::new();
    }
    let problem = |name: &str| format!("`{name}` is no job: name the module for what it does");
    let parts = file.path.split('/').map(|part| part.trim_end_matches(".rs")).filter(|part| is_vague(part));
    let pairs = file.words().zip(file.words().skip(1));
    let inline = pairs.filter(|(kind, name)| kind.text == "mod" && is_vague(name.text));
    let in_path = parts.map(|part| file.fault_on(1, &problem(part)));
    in_path.chain(inline.map(|(_, name)| file.fault(name.at, &problem(name.text)))).collect()
}

pub(crate) fn allowed_lint(file: &Source) -> Vec<String> {
    let is_allowed = |word: &Word| {
        let before = &file.code[..word.at];
        word.text == "allow" && (before.ends_with("#[") || before.ends_with("#!["))
    };
    let words = file.words().filter(is_allowed);
    words
        .map(|word| {
            file.fault(word.at, "write `#[expect(…, reason = \"…\")]`, which goes when its cause goes")
        })
        .collect()
}

pub(crate) fn sql(file: &Source) -> Vec<String> {
    let verbs =
        [("SELECT", "FROM"), ("INSERT", "INTO"), ("DELETE", "FROM"), ("UPDATE", "SET"), ("CREATE", "TABLE")];
    let holder = crate_of(&file.path);
    if !file.path.contains("/src/") || holder.is_none() || holder == Some("store") {
        return Vec::new();
    }
    let words: Vec<_> = source::words(&file.strings).filter(|word| file.ships(word.at)).collect();
    let is_query = |at: &usize| {
        let window = &words[*at..words.len().min(*at + 40)];
        let later = |second: &str| window.iter().any(|word| word.text == second);
        verbs.iter().any(|(first, second)| window[0].text == *first && later(second))
    };
    let faulty = (0..words.len()).filter(is_query);
    faulty
        .map(|at| file.fault_on(line_at(&file.strings, words[at].at), "move the SQL to `crates/store`"))
        .collect()
}

pub(crate) fn environment(file: &Source) -> Vec<String> {
    let holder = crate_of(&file.path);
    if !file.path.contains("/src/") || holder.is_none() || holder == Some("cli") {
        return Vec::new();
    }
    let reads = |word: &Word| {
        let from_std = file.code[..word.at].ends_with("std::");
        word.text == "env" && (from_std || file.code[word.at..].starts_with("env::")) && file.ships(word.at)
    };
    let words = file.words().filter(reads);
    words
        .map(|word| file.fault(word.at, "only `cli` reads the environment: take it as an argument"))
        .collect()
}

pub(crate) fn sleeping(file: &Source) -> Vec<String> {
    let sleeps = |word: &Word| {
        word.text == "sleep" && file.code[word.at..].starts_with("sleep(") && !file.ships(word.at)
    };
    file.words().filter(sleeps).map(|word| file.fault(word.at, "wait for a signal, do not sleep")).collect()
}

pub(crate) fn machine_path(file: &Source) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || "_-.}/".contains(c);
    let names_one = |line: &str| {
        ["/home", "/root", "/work"].iter().any(|folder| {
            line.match_indices(folder).any(|(at, _)| {
                let (before, after) =
                    (line[..at].chars().next_back(), line[at + folder.len()..].chars().next());
                !before.is_some_and(is_part) && (after == Some('/') || !after.is_some_and(is_part))
            })
        })
    };
    lines_with(file, names_one, "a path of one machine: make it relative")
}

pub(crate) fn registry(file: &Source) -> Vec<String> {
    let hosts = ["crates.io", "pypi.org", "pythonhosted.org", "npmjs.org", "npmjs.com"];
    let names_one = |line: &str| hosts.iter().any(|host| line.contains(host));
    lines_with(file, names_one, "name the package, not the registry: that is the reader's own setting")
}

/// The faulty lines of any text; the lock file is not written by hand.
fn lines_with(file: &Source, is_faulty: impl Fn(&str) -> bool, problem: &str) -> Vec<String> {
    if file.path.starts_with(RULES_THEMSELVES) || file.path.ends_with("Cargo.lock") {
        return Vec::new();
    }
    let faulty = file.text.lines().enumerate().filter(|(_, line)| is_faulty(line));
    faulty.map(|(at, _)| file.fault_on(at + 1, problem)).collect()
}

/// Every crate is in the code map, and everything in the code map is a crate.
pub(crate) fn code_map(crates: &[String], map: &Source) -> Vec<String> {
    let named: Vec<_> = map
        .text
        .match_indices("`crates/")
        .map(|(at, opening)| {
            let rest = &map.text[at + opening.len()..];
            rest.split(['`', '/']).next().unwrap_or_default()
        })
        .collect();
    let absent = crates.iter().filter(|name| !named.contains(&name.as_str()));
    let gone = named.iter().filter(|name| !crates.iter().any(|existing| existing == *name));
    let absent = absent.map(|name| map.fault_on(1, &format!("add `crates/{name}` to the code map")));
    absent.chain(gone.map(|name| map.fault_on(1, &format!("there is no `crates/{name}`")))).collect()
}
