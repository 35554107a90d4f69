//! The examples of docs/jobs.md, and that it names every field.

use trueup_job::{Job, Rule, Strategy};

use crate::schema::{fields_and_words, violations};

pub(crate) const DOCS: &str = include_str!("../../../../docs/jobs.md");

/// The complete jobs in the docs.
pub(crate) fn examples() -> Vec<&'static str> {
    let blocks = DOCS.split("```").skip(1).step_by(2);
    blocks.filter_map(|block| block.strip_prefix("yaml\n").or_else(|| block.strip_prefix("json\n"))).collect()
}

/// Parses a job that is right.
pub(crate) fn job(text: &str) -> Job {
    Job::parse(text.as_bytes(), None).unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

#[test]
fn examples_parse_and_mean_what_the_docs_say() {
    let examples = examples();
    assert_eq!(examples.len(), 4);
    let revenue = job(examples[0]);
    assert_eq!(revenue.strategy, Strategy::DrillDownOnFailure);
    let names: Vec<&str> = revenue.stages.iter().map(|stage| stage.name.as_str()).collect();
    assert_eq!((names, revenue.deadline.as_secs()), (vec!["by-region", "by-account"], 3600));
    let cut_over = job(examples[1]);
    assert_eq!(cut_over.stages[0].dimensions, ["order_id"]);
    assert!(
        matches!(&cut_over.stages[0].tolerances[0].rule, Rule::Absolute(value) if value.to_string() == "0.01")
    );
    let order: Vec<String> = job(examples[2]).sources.into_iter().map(|source| source.name).collect();
    assert_eq!(order, ["trade", "custodian", "broker", "sheet"]);
}

#[test]
fn examples_are_valid_by_the_schema() {
    for text in examples() {
        assert_eq!(violations(&job(text).document()), [""; 0]);
    }
    let json: serde_json::Value = serde_json::from_str(examples()[3]).unwrap();
    assert_eq!(violations(&json), [""; 0]);
}

#[test]
fn the_docs_name_every_field_and_word() {
    let (fields, words) = fields_and_words(&trueup_job::schema());
    for name in fields.iter().chain(&words) {
        assert!(DOCS.contains(&format!("`{name}`")), "docs/jobs.md does not have `{name}`");
    }
}
