//! Turns bytes into a tree: YAML, or JSON, which is YAML too.

use std::collections::{HashMap, HashSet};

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Span};

use crate::fault::{Fault, Place};
use crate::node::{Content, Entry, Node, shortened};

/// A job is written by hand; what is larger is something else.
pub(crate) const BYTES_MAX: usize = 1 << 20;

/// Bounds what aliases can grow to.
const NODES_MAX: usize = 10_000;

const DEPTH_MAX: usize = 32;

/// A document that could be read; its faults are keys that are there twice.
pub(crate) struct Tree<'a> {
    pub(crate) text: &'a str,
    pub(crate) root: Node,
    pub(crate) faults: Vec<Fault>,
}

/// Reads the one document in the bytes.
pub(crate) fn read(bytes: &[u8]) -> Result<Tree<'_>, Vec<Fault>> {
    let text = decode(bytes).map_err(|fault| vec![fault])?;
    let mut builder = Builder::default();
    let mut options = Options::default();
    options.disallow_directives = true;
    let mut parser = Parser::new_from_str_with_options(text, options);
    while let Some(event) = parser.next_event() {
        let event = event.map_err(|error| unreadable(text, &error));
        if let Err(fault) = event.and_then(|(event, span)| builder.take(event, span)) {
            builder.faults.push(fault);
            return Err(builder.faults);
        }
    }
    let Builder { root, faults, .. } = builder;
    match root {
        Some(root) => Ok(Tree { text, root, faults }),
        None => Err(vec![fault(Place::START, "the document is empty", "start with `name:`")]),
    }
}

fn decode(bytes: &[u8]) -> Result<&str, Fault> {
    if bytes.len() > BYTES_MAX {
        let message = format!("the document has {} bytes, at most {BYTES_MAX} are read", bytes.len());
        return Err(fault(Place::START, &message, "is this the right file?"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        fault(place_after(&before), "this is not UTF-8", "save the file in UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// The place of what follows a text.
pub(crate) fn place_after(before: &str) -> Place {
    let line = before.rsplit('\n').next().unwrap_or_default();
    Place { line: before.matches('\n').count() + 1, column: line.chars().count() + 1 }
}

fn unreadable(text: &str, error: &ScanError) -> Fault {
    let place = place_of(error.marker().line(), error.marker().col());
    let indented_by_tab = |line: &str| line.trim_start_matches(' ').starts_with('\t');
    let line = text.lines().nth(place.line - 1).unwrap_or_default();
    let hint = if indented_by_tab(line) {
        "YAML does not allow tabs for indentation: use spaces"
    } else {
        "check indentation, quotes and brackets here and just above"
    };
    fault(place, &format!("this is not YAML: {}", error.info()), hint)
}

fn place_of(line: usize, column_from_0: usize) -> Place {
    Place { line: line.max(1), column: column_from_0 + 1 }
}

fn fault(place: Place, message: &str, hint: &str) -> Fault {
    Fault { place, path: String::new(), message: message.to_owned(), hint: Some(hint.to_owned()) }
}

/// Whether YAML cannot hold a character as it is, so that the job could not be written down again.
fn is_unprintable(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n' | '\r')) || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A collection whose end has not come yet.
struct Open {
    node: Node,
    anchor: usize,
    /// The key whose value comes next.
    key: Option<(String, Place)>,
    /// The keys of a mapping so far.
    keys: HashSet<String>,
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    root: Option<Node>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    faults: Vec<Fault>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Fault> {
        let place = place_of(span.start.line(), span.start.col());
        let bytes = span.start.byte_offset().unwrap_or_default()..span.end.byte_offset().unwrap_or_default();
        if event.tag().is_some() {
            return Err(fault(place, "tags such as `!!str` mean nothing here", "leave it out"));
        }
        let start = |content| Node { place, span: bytes.clone(), content };
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                Err(fault(place, "a second document starts here", "keep one job in a file"))
            }
            Event::Scalar(text, style, anchor, _) => {
                if let Some(c) = text.chars().find(|c| is_unprintable(*c)) {
                    let message = format!("this has the character {c:?} in it, which cannot be printed");
                    self.faults.push(fault(place, &message, "remove it"));
                }
                let quoted = style != ScalarStyle::Plain;
                self.add(start(Content::Scalar { text: text.into_owned(), quoted }), anchor)
            }
            Event::SequenceStart(_, anchor, _) => self.begin(start(Content::List(Vec::new())), anchor),
            Event::MappingStart(_, anchor, _) => self.begin(start(Content::Map(Vec::new())), anchor),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor) else {
                    return Err(fault(place, "this alias is part of what it stands for", "write it out"));
                };
                let copy = Node { place, ..node.clone() };
                self.nodes += copy.count();
                self.add(copy, 0)
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, node: Node, anchor: usize) -> Result<(), Fault> {
        if self.open.len() >= DEPTH_MAX {
            let message = format!("this is nested more than {DEPTH_MAX} deep");
            return Err(fault(node.place, &message, "a job needs no more than a few levels"));
        }
        if matches!(
            self.open.last(),
            Some(Open { node: Node { content: Content::Map(_), .. }, key: None, .. })
        ) {
            return Err(fault(node.place, "a key has to be a text", "write `name: value`"));
        }
        self.open.push(Open { node, anchor, key: None, keys: HashSet::new() });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        match self.open.pop() {
            Some(open) => self.add(open.node, open.anchor),
            None => Ok(()),
        }
    }

    /// Puts a complete node where it belongs.
    fn add(&mut self, node: Node, anchor: usize) -> Result<(), Fault> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            let message = format!("the document has more than {NODES_MAX} values, aliases written out");
            return Err(fault(node.place, &message, "is this the right file?"));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match (&mut open.node.content, open.key.take()) {
            (Content::List(items), _) => items.push(node),
            (Content::Map(entries), Some((key, key_place))) => entries.push(Entry { key, key_place, node }),
            (Content::Map(_), None) => {
                let Content::Scalar { text, .. } = node.content else {
                    return Err(fault(node.place, "a key has to be a text", "write `name: value`"));
                };
                if !open.keys.insert(text.clone()) {
                    let message = format!("the key {} is here twice", shortened(&text));
                    self.faults.push(fault(node.place, &message, "keep one of them"));
                }
                open.key = Some((text, node.place));
            }
            (Content::Scalar { .. }, _) => {}
        }
        Ok(())
    }
}
