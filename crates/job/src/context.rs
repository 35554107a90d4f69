//! What the parts of a document refer to in the others, also in one with faults.

use std::collections::BTreeMap;

use crate::connection::{self, ConnectionKind};
use crate::cursor::{At, Fields};
use crate::measure::Aggregate;
use crate::node::{Content, Node};
use crate::param::{self, Params};
use crate::template::Template;
use crate::word::Word;

/// Each wrong expression of a template takes a look at all parameters for what may have been meant.
const ERRORS_MAX: usize = 20;

/// The names that a document declares.
pub(crate) struct Context<'a> {
    pub(crate) params: Params,
    pub(crate) sources: Vec<String>,
    pub(crate) dimensions: Vec<String>,
    pub(crate) measures: Vec<String>,
    /// The measures that are numbers whatever their columns are.
    numbers: Vec<String>,
    connections: BTreeMap<String, Option<ConnectionKind>>,
    /// The connections that a server has besides; `None` if that is not known.
    elsewhere: Option<&'a [&'a str]>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(job: &Fields<'_>, elsewhere: Option<&'a [&'a str]>) -> Self {
        let connections =
            job.get("connections").filter(At::is_map).and_then(|at| at.entries()).unwrap_or_default();
        let connections =
            connections.iter().map(|(name, at)| (name.clone(), connection::kind_of(at))).collect();
        let key = if job.get("dimensions").is_some() { "dimensions" } else { "key" };
        Self {
            params: param::kinds(job),
            sources: job.get("sources").map(|at| names(&at)).unwrap_or_default(),
            dimensions: job.get(key).map(|at| names(&at)).unwrap_or_default(),
            measures: job.get("measures").map(|at| names(&at)).unwrap_or_default(),
            numbers: job.get("measures").map(|at| numbers(&at)).unwrap_or_default(),
            connections,
            elsewhere,
        }
    }

    /// Reads a template whose expressions are all known.
    pub(crate) fn template(&self, at: &At<'_>, text: &str) -> Option<Template> {
        let template = at.noted(Template::parse(text))?;
        self.check(at, &template).then_some(template)
    }

    /// Notes the expressions of a template that are not known.
    pub(crate) fn check(&self, at: &At<'_>, template: &Template) -> bool {
        let mut is_good = true;
        for error in template
            .expressions()
            .filter_map(|expression| expression.check(&self.params).err())
            .take(ERRORS_MAX)
        {
            at.fault_in(error.part(), error.to_string(), None);
            is_good = false;
        }
        is_good
    }

    /// Reads the name of a connection of this document or of the server.
    pub(crate) fn connection(&self, at: &At<'_>) -> Option<String> {
        let name = at.text()?;
        let Some(elsewhere) = self.elsewhere else { return Some(name) };
        if self.connections.contains_key(&name) || elsewhere.contains(&name.as_str()) {
            return Some(name);
        }
        let known: Vec<&str> =
            self.connections.keys().map(String::as_str).chain(elsewhere.iter().copied()).collect();
        at.unknown("connection", &name, known);
        None
    }

    /// The kind of a connection of this document.
    pub(crate) fn connection_kind(&self, at: &At<'_>) -> Option<ConnectionKind> {
        *self.connections.get(at.node.text()?)?
    }

    /// Whether a measure is a number whatever its column is.
    pub(crate) fn is_number(&self, measure: &str) -> bool {
        self.numbers.iter().any(|name| name == measure)
    }

    /// Reads the name of a source.
    pub(crate) fn source(&self, at: &At<'_>) -> Option<String> {
        let name = at.text()?;
        if self.sources.contains(&name) {
            return Some(name);
        }
        at.unknown("source", &name, self.sources.iter().map(String::as_str));
        None
    }
}

fn numbers(measures: &At<'_>) -> Vec<String> {
    let is_number = |at: &At<'_>| {
        let aggregate = at.node.get("aggregate").and_then(Node::text).and_then(Aggregate::named);
        aggregate.is_some_and(Aggregate::is_number)
    };
    let numbers = measures.members().into_iter().filter(is_number);
    numbers.filter_map(|at| at.node.get("name")?.text().map(str::to_owned)).collect()
}

/// The keys of a mapping, the texts of a list, or the `name` of each of its objects.
fn names(at: &At<'_>) -> Vec<String> {
    match &at.node.content {
        Content::Map(entries) => entries.iter().map(|entry| entry.key.clone()).collect(),
        Content::List(items) => {
            let name = |item: &Node| item.text().or_else(|| item.get("name")?.text()).map(str::to_owned);
            items.iter().filter_map(name).collect()
        }
        Content::Scalar { .. } => Vec::new(),
    }
}
