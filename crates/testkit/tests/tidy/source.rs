//! A file taken apart: code, strings and comments, each with the others blanked out.

use std::iter;
use std::path::Path;

use crate::workspace;

/// A file; for Rust, an offset into `code`, `strings` or `comments` is one into `text`; for the rest they are empty.
pub(crate) struct Source {
    pub path: String,
    pub text: String,
    pub code: String,
    pub strings: String,
    pub comments: String,
    /// The number of lines before the tests at the end of the file.
    pub lines_before_tests: usize,
}

/// An identifier or keyword in the code.
pub(crate) struct Word<'a> {
    pub text: &'a str,
    pub at: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Code,
    Str,
    Comment,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let parts = if is_rust(path) { split(text) } else { Vec::new() };
        let only = |part| {
            let mut kept = String::with_capacity(text.len());
            for (c, p) in text.chars().zip(&parts) {
                // Blanks as long as what they hide, so that an offset means the same in every part.
                if *p == part || c == '\n' {
                    kept.push(c);
                } else {
                    kept.extend(iter::repeat_n(' ', c.len_utf8()));
                }
            }
            kept
        };
        let code = only(Part::Code);
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            lines_before_tests: lines_before_tests(&code),
            strings: only(Part::Str),
            comments: only(Part::Comment),
            code,
        }
    }

    /// Reads one file of the workspace.
    pub(crate) fn read(path: &str) -> Self {
        let full = workspace::root().join(path);
        let text = std::fs::read_to_string(&full).unwrap_or_else(|error| panic!("{path}: {error}"));
        Self::new(path, &text)
    }

    pub(crate) fn is_rust(&self) -> bool {
        is_rust(&self.path)
    }

    /// Whether the whole file is tests.
    pub(crate) fn is_test(&self) -> bool {
        self.path.split('/').any(|part| part == "tests" || part == "tests.rs" || part == "benches")
    }

    /// Whether the line with this offset into `code` is part of what ships.
    pub(crate) fn ships(&self, at: usize) -> bool {
        !self.is_test() && line_at(&self.code, at) <= self.lines_before_tests
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = Word<'_>> {
        words(&self.code)
    }

    /// What follows an offset in the code, without white space.
    pub(crate) fn after(&self, at: usize) -> &str {
        self.code[at..].trim_start()
    }

    pub(crate) fn fault(&self, at: usize, problem: &str) -> String {
        self.fault_on(line_at(&self.code, at), problem)
    }

    pub(crate) fn fault_on(&self, line: usize, problem: &str) -> String {
        format!("{}:{line}: {problem}", self.path)
    }
}

fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

/// The line of an offset, from 1.
pub(crate) fn line_at(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The identifiers and keywords of a text, in order.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    iter::from_fn(move || {
        let start = at + text[at..].find(is_word)?;
        let length = text[start..].find(|c| !is_word(c)).unwrap_or(text.len() - start);
        at = start + length;
        Some(Word { text: &text[start..at], at: start })
    })
}

/// Counts the lines up to the first `#[cfg(test)] mod … {`; one that only names another file does not end anything.
fn lines_before_tests(code: &str) -> usize {
    let lines: Vec<_> = code.lines().map(str::trim).collect();
    let is_tests = |at: usize| {
        let item = lines[at + 1..].iter().find(|line| !line.is_empty() && !line.starts_with("#["));
        lines[at] == "#[cfg(test)]" && item.is_some_and(|item| item.contains("mod ") && item.ends_with('{'))
    };
    (0..lines.len()).find(|&at| is_tests(at)).unwrap_or(lines.len())
}

/// Says for each character of a Rust file what it is part of. The quotes of a string are code.
fn split(text: &str) -> Vec<Part> {
    let chars: Vec<_> = text.chars().collect();
    let mut parts = Vec::with_capacity(chars.len());
    while parts.len() < chars.len() {
        let rest = &chars[parts.len()..];
        let before = parts.len().checked_sub(1).map(|at| chars[at]);
        let (opening, inside, closing, part) = token(rest, before);
        parts.extend(iter::repeat_n(Part::Code, opening));
        parts.extend(iter::repeat_n(part, inside));
        parts.extend(iter::repeat_n(Part::Code, closing));
    }
    parts.truncate(chars.len());
    parts
}

/// Measures the next token: characters that open it, are inside it and close it, and what the inside is.
fn token(rest: &[char], before: Option<char>) -> (usize, usize, usize, Part) {
    let starts = |text: &str| rest.iter().take(text.len()).copied().eq(text.chars());
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if starts("//") {
        let end = rest.iter().position(|&c| c == '\n').unwrap_or(rest.len());
        (0, end, 0, Part::Comment)
    } else if starts("/*") {
        (0, block_comment(rest), 0, Part::Comment)
    } else if let Some(hashes) = raw_string(rest).filter(|_| !in_word || before == Some('b')) {
        let opening = hashes + 2;
        let close: Vec<_> = iter::once('"').chain(iter::repeat_n('#', hashes)).collect();
        let body = &rest[opening..];
        let inside = body.windows(close.len()).position(|window| window == close).unwrap_or(body.len());
        (opening, inside, close.len(), Part::Str)
    } else if starts("\"") {
        (1, quoted(&rest[1..], '"'), 1, Part::Str)
    } else if starts("'") && (rest.get(1) == Some(&'\\') || rest.get(2) == Some(&'\'')) {
        (1, quoted(&rest[1..], '\''), 1, Part::Str)
    } else {
        (1, 0, 0, Part::Code)
    }
}

/// The number of hashes of the raw string that starts here, if one does.
fn raw_string(rest: &[char]) -> Option<usize> {
    let hashes = rest.strip_prefix(&['r'])?.iter().take_while(|&&c| c == '#').count();
    (rest.get(hashes + 1) == Some(&'"')).then_some(hashes)
}

/// The characters up to the closing quote.
fn quoted(body: &[char], quote: char) -> usize {
    let mut at = 0;
    while at < body.len() && body[at] != quote {
        at += if body[at] == '\\' { 2 } else { 1 };
    }
    at.min(body.len())
}

/// The characters of a block comment, which may hold others.
fn block_comment(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match (rest[at], rest.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}
