//! Reads typed values out of the tree, and notes what is wrong with them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::fault::{Fault, Place};
use crate::node::{Content, Node, Plain, plain_kind, shortened};
use crate::shape::Shape;
use crate::spelling;
use crate::template_error::TemplateError;
use crate::word::Word;
use crate::yaml::place_after;

/// Nobody mends more at once, and finding their places takes time.
const FAULTS_MAX: usize = 200;

/// Where faults are noted.
pub(crate) struct Findings<'a> {
    text: &'a str,
    faults: RefCell<Vec<Fault>>,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(text: &'a str, faults: Vec<Fault>) -> Self {
        Self { text, faults: RefCell::new(faults) }
    }

    fn is_full(&self) -> bool {
        self.faults.borrow().len() >= FAULTS_MAX
    }

    pub(crate) fn into_faults(self) -> Vec<Fault> {
        self.faults.into_inner()
    }
}

/// A value of the document while it is read.
///
/// What reads it gives `None` only after it has noted why, so that reading can go on with the rest.
#[derive(Clone)]
pub(crate) struct At<'a> {
    pub(crate) node: &'a Node,
    pub(crate) path: String,
    /// Where its name is, which for what has none is where it starts.
    pub(crate) name_place: Place,
    findings: &'a Findings<'a>,
}

impl<'a> At<'a> {
    pub(crate) fn root(node: &'a Node, findings: &'a Findings<'a>) -> Self {
        Self { node, path: String::new(), name_place: node.place, findings }
    }

    /// Notes a fault of the value.
    pub(crate) fn fault(&self, message: impl Into<String>, hint: impl Into<Option<String>>) {
        self.note(self.node.place, message.into(), hint.into());
    }

    /// Notes a fault of the name that the value has.
    pub(crate) fn fault_name(&self, message: impl Into<String>, hint: impl Into<Option<String>>) {
        self.note(self.name_place, message.into(), hint.into());
    }

    /// Notes a fault of a part of the text, where that is written as it reads.
    pub(crate) fn fault_in(&self, part: &str, message: impl Into<String>, hint: impl Into<Option<String>>) {
        if self.findings.is_full() {
            return;
        }
        let text = self.findings.text;
        let found = text.get(self.node.span.clone()).and_then(|written| written.find(part));
        let place = found.map_or(self.node.place, |at| place_after(&text[..self.node.span.start + at]));
        self.note(place, message.into(), hint.into());
    }

    /// Notes a fault of the text from a byte on, where that is written as it reads.
    pub(crate) fn fault_from(
        &self,
        text: &str,
        offset: usize,
        message: impl Into<String>,
        hint: impl Into<Option<String>>,
    ) {
        if self.findings.is_full() {
            return;
        }
        let document = self.findings.text;
        let written = document.get(self.node.span.clone()).unwrap_or_default();
        // Of a text that is folded or indented, the rest of a line is still as it reads.
        let rest = text.get(offset..).and_then(|rest| rest.lines().next()).filter(|rest| !rest.is_empty());
        let found = written
            .find(text)
            .map(|start| start + offset)
            .or_else(|| rest.and_then(|rest| written.find(rest)))
            .and_then(|at| document.get(..self.node.span.start + at));
        self.note(found.map_or(self.node.place, place_after), message.into(), hint.into());
    }

    fn note(&self, place: Place, message: String, hint: Option<String>) {
        if self.findings.is_full() {
            return;
        }
        self.findings.faults.borrow_mut().push(Fault { place, path: self.path.clone(), message, hint });
    }

    fn expected<T>(&self, what: &str, hint: Option<String>) -> Option<T> {
        self.fault(format!("expected {what}, found {}", self.node.described()), hint);
        None
    }

    fn child(&self, name: &str, node: &'a Node, name_place: Place) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        At { node, path: format!("{}{dot}{name}", self.path), name_place, findings: self.findings }
    }

    /// The fields of an object; those it does not have are noted.
    pub(crate) fn fields(&self, shape: &'static Shape) -> Option<Fields<'a>> {
        let Content::Map(entries) = &self.node.content else {
            let names: Vec<&str> = shape.fields.iter().take(3).map(|field| field.name).collect();
            return self.expected("a mapping", Some(format!("its fields are {}, …", names.join(", "))));
        };
        for entry in entries.iter().filter(|entry| !shape.has(&entry.key)) {
            let hint = spelling::hint(&entry.key, shape.fields.iter().map(|field| field.name));
            let at = self.child(&shown_name(&entry.key), &entry.node, entry.key_place);
            at.fault_name("there is no such field", hint);
        }
        let required = shape.fields.iter().filter(|field| field.required);
        let absent: Vec<&str> =
            required.filter(|field| self.node.get(field.name).is_none()).map(|field| field.name).collect();
        if !absent.is_empty() {
            self.fault_name(format!("`{}` is missing", absent.join("`, `")), None);
        }
        Some(Fields { at: self.clone(), shape })
    }

    /// The elements of a list.
    pub(crate) fn items(&self) -> Option<Vec<At<'a>>> {
        let Content::List(items) = &self.node.content else {
            let short = self.node.text().filter(|text| text.len() < 60);
            return self.expected("a list", short.map(|text| format!("write [{text}]")));
        };
        let item = |(at, node): (usize, &'a Node)| At {
            node,
            path: format!("{}[{at}]", self.path),
            name_place: node.place,
            findings: self.findings,
        };
        Some(items.iter().enumerate().map(item).collect())
    }

    /// The values of a mapping by their names.
    pub(crate) fn entries(&self) -> Option<Vec<(String, At<'a>)>> {
        let Content::Map(entries) = &self.node.content else {
            return self.expected("a mapping", None);
        };
        let entry = |entry: &'a crate::node::Entry| {
            (entry.key.clone(), self.child(&shown_name(&entry.key), &entry.node, entry.key_place))
        };
        Some(entries.iter().map(entry).collect())
    }

    /// Reads every value of a mapping; `None` if one of them is wrong.
    pub(crate) fn by_name<T>(
        &self,
        read: impl Fn(&str, &At<'a>) -> Option<T>,
    ) -> Option<BTreeMap<String, T>> {
        let entries = self.entries()?;
        let count = entries.len();
        let values = entries.into_iter().filter_map(|(name, at)| read(&name, &at).map(|value| (name, value)));
        let values: BTreeMap<String, T> = values.collect();
        (values.len() == count).then_some(values)
    }

    /// Reads every element of a list; `None` if one of them is wrong.
    pub(crate) fn each<T>(&self, read: impl Fn(&At<'a>) -> Option<T>) -> Option<Vec<T>> {
        let items = self.items()?;
        let values: Vec<T> = items.iter().filter_map(read).collect();
        (values.len() == items.len()).then_some(values)
    }

    /// The values of a mapping with their names, or the elements of a list, which have theirs inside.
    pub(crate) fn named_or_listed(&self) -> Option<Vec<(Option<String>, At<'a>)>> {
        if self.is_map() {
            return Some(self.entries()?.into_iter().map(|(name, at)| (Some(name), at)).collect());
        }
        Some(self.items()?.into_iter().map(|at| (None, at)).collect())
    }

    /// The name of one of these: in a mapping what comes before it, in a list a member of it.
    pub(crate) fn name_of(&self, before: Option<String>, member: &str) -> Option<String> {
        match (before, self.member(member)) {
            (Some(name), None) => Some(name),
            (None, Some(at)) => at.text(),
            (Some(_), Some(at)) => {
                at.fault_name("the name before this already says it; leave it out", None);
                None
            }
            (None, None) => {
                self.fault_name(format!("`{member}` is missing"), None);
                None
            }
        }
    }

    /// A member of a mapping, without a look at the others.
    pub(crate) fn member(&self, name: &str) -> Option<At<'a>> {
        let Content::Map(entries) = &self.node.content else { return None };
        let entry = entries.iter().find(|entry| entry.key == name)?;
        Some(self.child(name, &entry.node, entry.key_place))
    }

    /// The values of a mapping or the elements of a list; none of anything else.
    pub(crate) fn members(&self) -> Vec<At<'a>> {
        match &self.node.content {
            Content::Map(_) => self.entries().unwrap_or_default().into_iter().map(|(_, at)| at).collect(),
            Content::List(_) => self.items().unwrap_or_default(),
            Content::Scalar { .. } => Vec::new(),
        }
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self.node.content, Content::Map(_))
    }

    /// A text that is not blank.
    pub(crate) fn text(&self) -> Option<String> {
        match &self.node.content {
            Content::Scalar { text, quoted } if *quoted || matches!(plain_kind(text), Plain::Text) => {
                if text.trim().is_empty() {
                    return self.expected("a text", None);
                }
                Some(text.clone())
            }
            Content::Scalar { text, quoted: false } if !matches!(plain_kind(text), Plain::Null) => {
                self.expected("a text", Some(format!("put it in quotes: {}", shortened(text))))
            }
            _ => self.expected("a text", None),
        }
    }

    /// A text, or a number or truth value as it is written.
    pub(crate) fn scalar(&self, expected: &str) -> Option<String> {
        match &self.node.content {
            Content::Scalar { text, quoted } if *quoted || !matches!(plain_kind(text), Plain::Null) => {
                Some(text.clone())
            }
            _ => self.expected(expected, None),
        }
    }

    pub(crate) fn flag(&self) -> Option<bool> {
        match &self.node.content {
            Content::Scalar { text, quoted: false } => match plain_kind(text) {
                Plain::Flag(flag) => Some(flag),
                _ => self.expected("true or false", None),
            },
            _ => self.expected("true or false", None),
        }
    }

    pub(crate) fn whole(&self, range: RangeInclusive<u64>) -> Option<u64> {
        let number = match &self.node.content {
            Content::Scalar { text, quoted: false } if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().ok().filter(|number| range.contains(number))
            }
            _ => None,
        };
        let expected = || format!("a whole number from {} to {}", range.start(), range.end());
        number.or_else(|| self.expected(&expected(), None))
    }

    pub(crate) fn word<W: Word>(&self) -> Option<W> {
        let words = W::ALL.iter().map(|(_, name)| *name);
        let Some(text) = self.node.text() else {
            return self.expected("a word", spelling::hint("", words));
        };
        let found = W::named(text);
        if found.is_none() {
            self.fault(format!("there is no {} here", shortened(text)), spelling::hint(text, words));
        }
        found
    }

    /// A list of texts, each once.
    pub(crate) fn texts(&self) -> Option<Vec<String>> {
        let mut texts: Vec<String> = Vec::new();
        let items = self.items()?;
        if items.is_empty() {
            self.fault("the list is empty", None);
        }
        for item in items {
            let Some(text) = item.text() else { continue };
            if texts.contains(&text) {
                item.fault(format!("{} is in the list twice", shortened(&text)), None);
            }
            texts.push(text);
        }
        Some(texts)
    }

    /// What a reader makes of a text; its error is the fault.
    pub(crate) fn parsed<T, E: std::fmt::Display>(&self, read: impl Fn(&str) -> Result<T, E>) -> Option<T> {
        let text = self.scalar("a text")?;
        read(&text).map_err(|error| self.fault(error.to_string(), None)).ok()
    }

    /// Passes on a template, or notes what is wrong with it.
    pub(crate) fn noted<T>(&self, template: Result<T, TemplateError>) -> Option<T> {
        template.map_err(|error| self.fault_in(error.part(), error.to_string(), None)).ok()
    }

    /// Notes that a name is none of those known.
    pub(crate) fn unknown<'n>(
        &self,
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'n str> + Clone,
    ) {
        self.fault(format!("there is no {what} {}", shortened(name)), spelling::hint(name, known));
    }
}

/// A key as a part of a path; `"Amount (GBP)"` keeps its quotes.
fn shown_name(key: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.len() <= 60 && key.chars().all(is_plain) {
        key.to_owned()
    } else {
        shortened(key)
    }
}

impl Shape {
    fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
    }
}

/// An object whose fields are known.
#[derive(Clone)]
pub(crate) struct Fields<'a> {
    pub(crate) at: At<'a>,
    shape: &'static Shape,
}

impl<'a> Fields<'a> {
    /// A field, if it is there.
    pub(crate) fn get(&self, name: &'static str) -> Option<At<'a>> {
        debug_assert!(self.shape.has(name), "{name} is not in the shape");
        self.at.member(name)
    }

    /// Reads a field if it is there; `None` if it is there and wrong.
    #[expect(clippy::option_option, reason = "absent and wrong are two things, and `?` passes on the second")]
    pub(crate) fn maybe<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(&At<'a>) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.get(name) {
            None => Some(None),
            Some(at) => read(&at).map(Some),
        }
    }
}
