//! JSON lines: one object a line, a column for every key that any of them has.
//!
//! The keys are found by a pass over the whole file when it is opened: a key may turn up first in the last line, and
//! a sample would miss it. It costs about as much as one scan, and counts the rows besides.
//!
//! Strings become their text, numbers, `true` and `false` stay as written, `null` and a missing key are NULL, objects and
//! arrays become their JSON without white space.

mod syntax;

use std::collections::HashMap;

use arrow_schema::{DataType, Field};
use memchr::{memchr_iter, memrchr};

use crate::Options;
use crate::column::Columns;
use crate::error::{Error, Fault, Problem};
use crate::input::Input;
use crate::text::{Cut, Grammar, Records, Shape, Text, TextFile};
use syntax::{Cursor, Key, Value};

/// How many keys may become columns; objects with ever new keys would otherwise fill the memory.
const MOST_KEYS: usize = 10_000;

/// Reads objects with known keys.
#[derive(Default)]
pub(crate) struct Json {
    keys: Keys,
}

impl Grammar for Json {
    fn cut(&self, text: &[u8]) -> Cut {
        memrchr(b'\n', text).map_or(Cut::Nowhere, |at| Cut::At(at + 1))
    }

    fn parse(&self, records: Records<'_>, columns: &mut Columns) -> Result<(), Fault> {
        let Records { text, len, only } = records;
        let mut cursor = Cursor::new(text, len);
        let mut seen = Seen::new(self.keys.names.len());
        let mut row = 0;
        while cursor.next_object()? {
            let wanted = only.is_none_or(|only| row < only.rows.len() && only.rows.value(row));
            row += 1;
            cursor.object(|key, value| {
                let Some(field) = self.keys.of(&key, seen.next)? else {
                    return Err(Fault::at(
                        key.at,
                        Problem::Json("a key that was not there when the file was opened"),
                    ));
                };
                seen.mark(field, row, &key)?;
                if wanted { add(columns, field, text, value) } else { Ok(()) }
            })?;
            seen.next = 0;
            if wanted {
                columns.fill_row();
            }
        }
        Ok(())
    }

    fn start_of(&self, text: &[u8], row: usize, _: usize) -> Option<usize> {
        let ends = memchr_iter(b'\n', text).map(|end| end + 1);
        let mut objects = std::iter::once(0).chain(ends).filter(|&start| {
            let line = text[start..].split(|byte| *byte == b'\n').next();
            line.is_some_and(|line| !line.trim_ascii().is_empty())
        });
        objects.nth(row)
    }

    fn terminator(&self) -> u8 {
        b'\n'
    }
}

/// The keys in the order in which they first occur.
#[derive(Default, Clone)]
struct Keys {
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Keys {
    /// Finds a key of an object, which is mostly the one that follows the last.
    #[inline]
    fn of(&self, key: &Key, guess: usize) -> Result<Option<usize>, Fault> {
        match self.names.get(guess) {
            Some(name) if key.is(name) => Ok(Some(guess)),
            _ => Ok(self.places.get(key.text()?.as_ref()).copied()),
        }
    }

    fn add(&mut self, key: &str) -> usize {
        let place = self.names.len();
        self.names.push(key.to_owned());
        self.places.insert(key.to_owned(), place);
        place
    }
}

/// Which keys the object in progress has had.
struct Seen {
    /// For each key the last row, from 1, that has it.
    rows: Vec<usize>,
    next: usize,
}

impl Seen {
    fn new(keys: usize) -> Self {
        Self { rows: vec![0; keys], next: 0 }
    }

    #[inline]
    fn mark(&mut self, field: usize, row: usize, key: &Key) -> Result<(), Fault> {
        if field >= self.rows.len() {
            self.rows.resize(field + 1, 0);
        }
        if self.rows[field] == row {
            return Err(Fault::at(key.at, Problem::SameKey(key.text()?.into_owned())));
        }
        self.rows[field] = row;
        self.next = field + 1;
        Ok(())
    }
}

fn add(columns: &mut Columns, field: usize, text: &[u8], value: Value) -> Result<(), Fault> {
    match value {
        Value::Null => columns.push_null(field),
        Value::Plain(start, end) => columns.push(field, text, start, end),
        Value::Escaped(start, end) if columns.wants(field) => {
            return columns.push_rewritten(field, |out| syntax::unescape(text, start, end, out));
        }
        Value::Spaced(start, end) if columns.wants(field) => {
            columns.push_rewritten(field, |out| syntax::compact(&text[start..end], out));
        }
        Value::Escaped(..) | Value::Spaced(..) => {}
    }
    Ok(())
}

/// Finds the keys of a file and makes it ready to be read.
pub(crate) fn open(input: Input, options: &Options) -> Result<TextFile<Json>, Error> {
    let path = input.name().to_owned();
    let text = Text::new(input, options.encoding.as_deref())?;
    let shape = Shape {
        fields: Vec::new(),
        start: 0,
        chunk_bytes: options.chunk_bytes.min(crate::MOST_CHUNK_BYTES),
        rows_hint: None,
        described: format!("JSON lines, {}", text.described()),
    };
    let mut file = TextFile::new(text, shape, Json::default());
    let mut keys = Keys::default();
    let mut rows = 0;
    file.survey(options.threads, keys_of, |(found, count)| {
        for name in &found.names {
            if !keys.places.contains_key(name) {
                keys.add(name);
            }
        }
        rows += count;
        if keys.names.len() > MOST_KEYS {
            let problem = format!(
                "more than {MOST_KEYS} different keys, each of which is a column; put keys that are data, such as ids, under one key"
            );
            return Err(Error::Format { path: path.clone(), problem });
        }
        Ok(())
    })?;
    if keys.names.is_empty() {
        let problem = "no object in this file has a key, so there are no columns".to_owned();
        return Err(Error::Format { path, problem });
    }
    file.learn(|json, shape| {
        shape.fields = keys.names.iter().map(|name| Field::new(name, DataType::Utf8View, true)).collect();
        shape.rows_hint = Some(rows);
        json.keys = keys;
    });
    Ok(file)
}

/// The keys and the number of objects in a chunk, all of whose syntax is checked on the way, unless the keys are too many.
fn keys_of(text: &[u8], len: usize) -> Result<(Keys, u64), Fault> {
    let mut cursor = Cursor::new(text, len);
    let mut keys = Keys::default();
    let mut seen = Seen::new(0);
    let mut rows = 0;
    while keys.names.len() <= MOST_KEYS && cursor.next_object()? {
        rows += 1;
        cursor.object(|key, _| {
            let field = match keys.of(&key, seen.next)? {
                Some(field) => field,
                None => keys.add(&key.text()?),
            };
            seen.mark(field, rows, &key)
        })?;
        seen.next = 0;
    }
    Ok((keys, rows as u64))
}
