//! The parameters that a job takes.

use std::collections::BTreeMap;

use crate::cursor::{At, Fields};
use crate::expression::Expression;
use crate::shape::{Kind, Shape, optional, required};
use crate::template::Template;
use crate::value::{Type, Value};
use crate::word::Word;

pub(crate) const PARAM: Shape = Shape {
    fields: &[
        required("type", Kind::Word(Type::NAMES), "What its values are."),
        optional("default", Kind::Any, "Its value if none is given, or a template such as {{ today - 1d }}."),
        optional("description", Kind::Text, "What it is for."),
    ],
};

/// A parameter; one without a default has to be given.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Param {
    /// What its values are.
    pub kind: Type,
    /// Its value if none is given.
    pub default: Option<Fallback>,
    /// What it is for.
    pub description: Option<String>,
}

/// The value of a parameter that is not given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fallback {
    /// Always the same.
    Value(Value),
    /// From the time of the run; it uses no other parameters.
    Template(Template),
}

/// The types of all parameters, for checking expressions; of those that are not written well, nothing is known.
pub(crate) struct Params(BTreeMap<String, Option<Type>>);

impl Params {
    pub(crate) fn new(params: BTreeMap<String, Option<Type>>) -> Self {
        Self(params)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The type of a parameter, if that is known.
    pub(crate) fn kind_of(&self, name: &str) -> Option<Type> {
        self.0.get(name).copied().flatten()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.keys().map(String::as_str)
    }
}

/// Reads one parameter.
pub(crate) fn read(name: &str, at: &At<'_>) -> Option<Param> {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    if !name.starts_with(is_first) || !name.chars().all(|c| is_first(c) || c.is_ascii_digit()) {
        at.fault_name("a parameter is named with letters, digits and _, and no digit first", None);
    }
    let fields = at.fields(&PARAM)?;
    let kind = fields.get("type")?.word::<Type>();
    let default = fields.maybe("default", |at| read_default(at, kind?));
    let description = fields.maybe("description", At::text);
    Some(Param { kind: kind?, default: default?, description: description? })
}

/// The types of the parameters of a document, also of one with faults.
pub(crate) fn kinds(job: &Fields<'_>) -> Params {
    let entries = job.get("params").filter(At::is_map).and_then(|at| at.entries()).unwrap_or_default();
    let kind = |at: &At<'_>| Type::named(at.node.get("type")?.text()?);
    Params::new(entries.into_iter().map(|(name, at)| (name, kind(&at))).collect())
}

fn read_default(at: &At<'_>, kind: Type) -> Option<Fallback> {
    let text = at.scalar(kind.example())?;
    if !text.contains("{{") {
        // What is wrong is noted as a fault of its place; nothing is left to pass on.
        let value = Value::parse(kind, &text);
        return value.map(Fallback::Value).map_err(|error| at.fault(error.to_string(), None)).ok();
    }
    let template = at.noted(Template::parse(&text))?;
    if template.expressions().any(Expression::uses_params) {
        at.fault("a default uses `today` or `now`, not other parameters", None);
        return None;
    }
    let found = at.noted(template.check(&Params::new(BTreeMap::new())))?;
    if found != kind && kind != Type::String {
        at.fault(format!("expected {}, but this is of type {found}", kind.example()), None);
        return None;
    }
    Some(Fallback::Template(template))
}
