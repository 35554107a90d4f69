//! Which verbs there are, and that a process is killed in each that moves a run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::{commands, engine, servers};

/// How the source of a verb begins.
const VERB: &str = "impl Verb for ";

/// Verbs that move no run, and that no command comes to: each is a write of its own, asked for again with the same id.
const OF_NO_RUN: [&str; 10] = [
    "Bootstrap",
    "CancelObserved",
    "DeleteConnection",
    "ForgetAnswers",
    "ForgetObserved",
    "KeepAnswer",
    "MakeKey",
    "MakeTenant",
    "PutConnection",
    "RevokeKey",
];

#[test]
fn a_process_is_killed_in_every_verb_that_moves_a_run() {
    let mut there_are = BTreeSet::new();
    for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/src/verbs")) {
        let text = std::fs::read_to_string(file).unwrap();
        let verbs = text.lines().filter_map(|line| line.trim().strip_prefix(VERB));
        there_are.extend(verbs.map(|verb| verb.trim_end_matches(" {").to_owned()));
    }
    assert!(!there_are.is_empty());
    let by_name = [
        &servers::BY_ITSELF[..],
        &servers::IN_A_CASE,
        &commands::IN_A_CASE,
        &[engine::BY_OTHERS],
        &OF_NO_RUN,
    ];
    let with_more = commands::IN_THE_FOREGROUND.map(|(verb, _)| verb);
    let by_an_engine = engine::BY_AN_ENGINE.map(|(verb, _)| verb);
    let killed_in = by_name.concat().into_iter().chain(with_more).chain(by_an_engine);
    assert_eq!(killed_in.map(str::to_owned).collect::<BTreeSet<_>>(), there_are);
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(below).collect()
}
