//! The syntax of JSON, read strictly and without building anything.

use std::borrow::Cow;

use crate::error::{Fault, Problem};

/// How deep objects and arrays may nest.
const DEPTH: usize = 128;

/// A value of an object: what it is, and where in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    /// The text is the value.
    Plain(usize, usize),
    /// The text is that of a string with escapes.
    Escaped(usize, usize),
    /// The text is that of an object or array with white space.
    Spaced(usize, usize),
}

/// A key of an object.
pub(super) struct Key<'c> {
    chunk: &'c [u8],
    pub at: usize,
    end: usize,
    escaped: bool,
}

impl<'c> Key<'c> {
    /// Whether the key is written just like a name.
    #[inline]
    pub(super) fn is(&self, name: &str) -> bool {
        !self.escaped && self.chunk[self.at..self.end] == *name.as_bytes()
    }

    pub(super) fn text(&self) -> Result<Cow<'c, str>, Fault> {
        let not_utf8 = Fault::at(self.at, Problem::Utf8);
        if !self.escaped {
            return std::str::from_utf8(&self.chunk[self.at..self.end])
                .map(Cow::Borrowed)
                .map_err(|_| not_utf8);
        }
        let mut text = Vec::new();
        unescape(self.chunk, self.at, self.end, &mut text)?;
        String::from_utf8(text).map(Cow::Owned).map_err(|_| not_utf8)
    }
}

/// A place in a chunk of lines, the last of which is terminated.
pub(super) struct Cursor<'c> {
    chunk: &'c [u8],
    at: usize,
    /// Whether white space was passed over since this was last cleared.
    spaced: bool,
}

impl<'c> Cursor<'c> {
    pub(super) fn new(chunk: &'c [u8], len: usize) -> Self {
        Self { chunk: &chunk[..len], at: 0, spaced: false }
    }

    /// Moves to the next line that is not blank, and says whether there is one.
    pub(super) fn next_object(&mut self) -> Result<bool, Fault> {
        while matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n') && self.at < self.chunk.len() {
            self.at += 1;
        }
        match self.peek() {
            _ if self.at >= self.chunk.len() => Ok(false),
            b'{' => Ok(true),
            b'[' => Err(Fault::at(self.at, Problem::JsonArray)),
            _ => Err(self.fault("each line must be one JSON object")),
        }
    }

    /// Reads the object at this place to the end of its line.
    pub(super) fn object(
        &mut self,
        mut each: impl FnMut(Key<'c>, Value) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.members(1, &mut |key, value| each(key, value))?;
        self.skip_space();
        match self.peek() {
            b'\n' => Ok(()),
            _ => Err(self.fault("text after the object; each line must be one JSON object")),
        }
    }

    fn members(
        &mut self,
        depth: usize,
        each: &mut dyn FnMut(Key<'c>, Value) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.at += 1;
        self.skip_space();
        if self.peek() == b'}' {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.peek() != b'"' {
                return Err(self.fault("expected a key in quotes"));
            }
            let (at, end, escaped) = self.string()?;
            self.skip_space();
            if self.peek() != b':' {
                return Err(self.fault("expected a colon after the key"));
            }
            self.at += 1;
            self.skip_space();
            let value = self.value(depth)?;
            each(Key { chunk: self.chunk, at, end, escaped }, value)?;
            if self.closes(b'}', "expected a comma or the end of the object")? {
                return Ok(());
            }
        }
    }

    fn elements(&mut self, depth: usize) -> Result<(), Fault> {
        self.at += 1;
        self.skip_space();
        if self.peek() == b']' {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.value(depth)?;
            if self.closes(b']', "expected a comma or the end of the array")? {
                return Ok(());
            }
        }
    }

    /// Passes over a comma, or the closing bracket.
    fn closes(&mut self, bracket: u8, expected: &'static str) -> Result<bool, Fault> {
        self.skip_space();
        let closes = self.peek() == bracket;
        if !closes && self.peek() != b',' {
            return Err(self.fault(expected));
        }
        self.at += 1;
        if !closes {
            self.skip_space();
        }
        Ok(closes)
    }

    fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        let start = self.at;
        match self.peek() {
            b'"' => {
                let (start, end, escaped) = self.string()?;
                return Ok(if escaped { Value::Escaped(start, end) } else { Value::Plain(start, end) });
            }
            b'{' | b'[' if depth == DEPTH => return Err(self.fault("nested too deep")),
            open @ (b'{' | b'[') => {
                let outer = std::mem::take(&mut self.spaced);
                if open == b'{' {
                    self.members(depth + 1, &mut |_, _| Ok(()))?;
                } else {
                    self.elements(depth + 1)?;
                }
                let inner = std::mem::replace(&mut self.spaced, outer);
                self.spaced |= inner;
                return Ok(if inner { Value::Spaced(start, self.at) } else { Value::Plain(start, self.at) });
            }
            b'n' => {
                self.word(b"null")?;
                return Ok(Value::Null);
            }
            b't' => self.word(b"true")?,
            b'f' => self.word(b"false")?,
            b'-' | b'0'..=b'9' => self.number()?,
            _ => return Err(self.fault("expected a value")),
        }
        Ok(Value::Plain(start, self.at))
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Fault> {
        if !self.chunk[self.at..].starts_with(word) {
            return Err(self.fault("expected a value"));
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
        if self.peek() == b'-' {
            self.at += 1;
        }
        if self.peek() == b'0' {
            self.at += 1;
            if self.peek().is_ascii_digit() {
                return Err(self.fault("a number does not start with a zero"));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        if !self.peek().is_ascii_digit() {
            return Err(self.fault("expected a digit"));
        }
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }

    /// Reads a string: where its text starts and ends, and whether it has escapes.
    #[inline]
    fn string(&mut self) -> Result<(usize, usize, bool), Fault> {
        let start = self.at + 1;
        let mut escaped = false;
        self.at = start;
        loop {
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return Ok((start, self.at - 1, escaped));
                }
                b'\\' => {
                    escaped = true;
                    // What the escape says is looked at when the value is taken; here only a quote matters.
                    self.at += 1;
                    self.escape()?;
                }
                b'\n' => {
                    return Err(Fault::at(
                        start - 1,
                        Problem::Json("the string opened here is never closed"),
                    ));
                }
                0..=0x1f => return Err(self.fault("a control character in a string must be escaped")),
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        match self.peek() {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            b'u' if hex(self.chunk, self.at + 1).is_some() => self.at += 5,
            _ => {
                return Err(Fault::at(self.at - 1, Problem::Json("not an escape that JSON has")));
            }
        }
        Ok(())
    }

    #[inline]
    fn skip_space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r') {
            self.at += 1;
            self.spaced = true;
        }
    }

    /// The byte at this place; after the last line there is a line end.
    #[inline]
    fn peek(&self) -> u8 {
        self.chunk.get(self.at).copied().unwrap_or(b'\n')
    }

    fn fault(&self, problem: &'static str) -> Fault {
        Fault::at(self.at, Problem::Json(problem))
    }
}

fn hex(chunk: &[u8], at: usize) -> Option<u32> {
    let digits = chunk.get(at..at + 4)?;
    digits.iter().try_fold(0, |code, &digit| Some(code << 4 | char::from(digit).to_digit(16)?))
}

/// Appends the text of a string whose escapes have been checked; only half a surrogate pair can still be wrong.
pub(super) fn unescape(chunk: &[u8], start: usize, end: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut at = start;
    while let Some(found) = memchr::memchr(b'\\', &chunk[at..end]) {
        out.extend_from_slice(&chunk[at..at + found]);
        at += found;
        let plain = match chunk[at + 1] {
            b'b' => b'\x08',
            b'f' => b'\x0c',
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let (character, len) = unicode(&chunk[..end], at).ok_or_else(|| {
                    Fault::at(at, Problem::Json("half of a surrogate pair is not a character"))
                })?;
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                at += len;
                continue;
            }
            other => other,
        };
        out.push(plain);
        at += 2;
    }
    out.extend_from_slice(&chunk[at..end]);
    Ok(())
}

/// The character of the escape there, or of the pair of escapes.
fn unicode(chunk: &[u8], at: usize) -> Option<(char, usize)> {
    let first = hex(chunk, at + 2)?;
    if !(0xd800..0xdc00).contains(&first) {
        return Some((char::from_u32(first)?, 6));
    }
    let second =
        chunk.get(at + 6..at + 8).filter(|escape| escape == b"\\u").and_then(|_| hex(chunk, at + 8))?;
    let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
    Some((char::from_u32(0x10000 + ((first - 0xd800) << 10) + low)?, 12))
}

/// Appends an object or array without the white space between its tokens.
pub(super) fn compact(nested: &[u8], out: &mut Vec<u8>) {
    let (mut inside, mut escape) = (false, false);
    for &byte in nested {
        if inside {
            (inside, escape) = (escape || byte != b'"', !escape && byte == b'\\');
        } else if matches!(byte, b' ' | b'\t' | b'\r') {
            continue;
        } else {
            inside = byte == b'"';
        }
        out.push(byte);
    }
}
