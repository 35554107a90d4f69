//! What fields say about each other.

use crate::context::Context;
use crate::cursor::{At, Fields};

/// Notes fields that cannot both be meant.
pub(crate) fn check(job: &Fields<'_>, context: &Context<'_>) {
    check_columns(job, context);
    check_duplicates(job, context);
    check_checksum(job, context);
}

fn check_columns(job: &Fields<'_>, context: &Context<'_>) {
    let texts = |name| job.get(name).map(|at| at.members()).unwrap_or_default();
    for name in ["only", "ignore"] {
        if let Some(at) = job.get(name).filter(|_| !context.measures.is_empty()) {
            at.fault_name("with measures, their columns are compared and no others", None);
        }
    }
    for ignored in texts("ignore") {
        if context.dimensions.iter().any(|name| has_text(&ignored, name)) {
            ignored.fault("this is a dimension, which cannot be ignored", None);
        }
        if texts("only").iter().any(|only| only.node.text().is_some_and(|name| has_text(&ignored, name))) {
            ignored.fault("this is in `only` as well", None);
        }
    }
}

fn check_duplicates(job: &Fields<'_>, context: &Context<'_>) {
    let Some(at) = job.get("duplicates") else { return };
    if has_text(&at, "aggregate") && context.measures.is_empty() {
        at.fault("there is nothing to aggregate without measures", "expected multiset or error".to_owned());
    }
    if has_text(&at, "multiset") && !context.measures.is_empty() {
        at.fault("measures take all rows of a key together", "expected aggregate or error".to_owned());
    }
}

fn check_checksum(job: &Fields<'_>, context: &Context<'_>) {
    let Some(at) = job.get("compare").filter(|at| has_text(at, "checksum")) else { return };
    let is_table = |source: &At<'_>| source.member("table").is_some();
    let sources = job.get("sources").map(|at| at.members()).unwrap_or_default();
    if sources.len() != 2 || !sources.iter().all(is_table) {
        at.fault("checksums are for two sources that are tables of databases", None);
    }
    if !context.measures.is_empty() {
        at.fault("checksums are for rows, not for measures", None);
    }
}

fn has_text(at: &At<'_>, text: &str) -> bool {
    at.node.text() == Some(text)
}
