//! One column per source, held against the others.

use arrow_array::ArrayRef;
use trueup_compare::Rule;

use crate::scene::Scene;

/// Rows of a column `v`, held against each other under a rule.
pub(crate) struct Held {
    pub what: &'static str,
    pub sources: Vec<ArrayRef>,
    pub rule: Rule,
    pub compared_as: &'static str,
    /// The numbers of the rows outside.
    pub outside: &'static [&'static str],
}

/// Two columns that must be equal but for some rows.
pub(crate) fn held(
    what: &'static str,
    left: ArrayRef,
    right: ArrayRef,
    compared_as: &'static str,
    outside: &'static [&'static str],
) -> Held {
    Held { what, sources: vec![left, right], rule: Rule::Exact, compared_as, outside }
}

/// Holds the columns of each case against each other, by fingerprint and by value.
pub(crate) fn check(cases: Vec<Held>) {
    let mut wrong = Vec::new();
    for Held { what, sources, rule, compared_as, outside } in cases {
        for verify in [false, true] {
            let mut scene = Scene::of(sources.clone()).tolerance("v", rule.clone());
            scene.spec.verify = verify;
            match scene.run() {
                Err(error) => wrong.push(format!("{what}: {error}")),
                Ok((comparison, _)) => {
                    let found = (
                        scene.broken(),
                        comparison
                            .columns
                            .iter()
                            .find(|column| column.name == "v")
                            .and_then(|column| Some(column.compared_as?.name())),
                    );
                    let expected =
                        (outside.iter().map(|&key| key.to_owned()).collect::<Vec<_>>(), Some(compared_as));
                    if found != expected || comparison.measures[0].outside != outside.len() as u64 {
                        wrong.push(format!("{what}: outside {found:?}, expected {expected:?}"));
                    }
                    if !comparison.findings.is_empty() {
                        wrong.push(format!("{what}: {:?}", comparison.findings));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
