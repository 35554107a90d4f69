//! What runs after a run.

use std::collections::BTreeMap;

use crate::context::Context;
use crate::cursor::At;
use crate::name;
use crate::notify::Ending;
use crate::shape::{Kind, Shape, optional, required};
use crate::template::Template;

pub(crate) const FOLLOW_UP: Shape = Shape {
    fields: &[
        required("job", Kind::Text, "The job to start."),
        optional("when", Kind::Word(Ending::NAMES), "How this run has to end; MATCHED unless said."),
        optional(
            "params",
            Kind::Map { of: &Kind::Any, least: 0 },
            "Its parameters: values, or templates over this job's.",
        ),
    ],
};

/// A job that runs after this one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FollowUp {
    /// The job to start.
    pub job: String,
    /// How this run has to end.
    pub when: Ending,
    /// Its parameters.
    pub params: BTreeMap<String, Template>,
}

pub(crate) fn read_all(at: &At<'_>, job: Option<&str>, context: &Context<'_>) -> Option<Vec<FollowUp>> {
    at.each(|item| read(item, job, context))
}

fn read(at: &At<'_>, job: Option<&str>, context: &Context<'_>) -> Option<FollowUp> {
    let fields = at.fields(&FOLLOW_UP)?;
    let next = fields.get("job").and_then(|at| {
        let next = name::read(&at)?;
        if job == Some(&next) {
            at.fault("a job that starts itself would never end", None);
        }
        Some(next)
    });
    let when = fields.maybe("when", At::word);
    let params =
        fields.maybe("params", |at| at.by_name(|_, at| context.template(at, &at.scalar("a value")?)));
    Some(FollowUp { job: next?, when: when?.unwrap_or(Ending::Matched), params: params?.unwrap_or_default() })
}
