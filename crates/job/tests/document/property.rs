//! Random jobs are read as they are written; random bytes and broken jobs are refused without a panic.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use trueup_job::Job;

use crate::examples::{examples, job};
use crate::schema::violations;

/// Text as people write it, and as they should not.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z][a-z0-9_]{0,8}",
        "[ -~]{1,12}",
        "\\PC{1,8}",
        Just("no".to_owned()),
        Just("1e5".to_owned()),
        Just("it's \"quoted\": {yes}\n\tor - not # at all".to_owned()),
    ]
    .prop_filter("blank, a template or a reference", |text| {
        !text.trim().is_empty() && !text.contains("{{") && !text.contains("${") && !text.contains('\u{feff}')
    })
}

fn rule() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0_u32..100_000, 0_u32..6).prop_map(|(digits, places)| json!(format!("{digits}e-{places}"))),
        (0_u32..1000).prop_map(|days| json!(format!("{days}d"))),
        (1_u32..100, any::<bool>()).prop_map(|(percent, mean)| {
            let base = if mean { "mean" } else { "y" };
            json!({"type": "PERCENTAGE", "value": percent, "base": base, "allow": "0.5%"})
        }),
        Just(json!({"type": "EXACT", "normalise": ["nfc", "trim"], "allow": 3})),
    ]
}

prop_compose! {
    fn document()(
        names in prop::collection::btree_set(text(), 2..5),
        columns in prop::collection::btree_map(text(), text(), 1..4),
        key in prop::collection::btree_set("[a-z]{1,3}", 1..4),
        tolerances in prop::collection::btree_map("[A-Z]{1,3}", rule(), 0..4),
        description in text(),
        retries in 0..100,
        deadline in 1..100_000,
        move_days in 0..1000,
    ) -> Value {
        // New names have to differ, which random ones need not.
        let columns: Map<String, Value> =
            columns.into_iter().enumerate().map(|(at, (from, to))| (from, json!(format!("{at}{to}")))).collect();
        let file = format!("in/{{{{ params.d - {move_days}d }}}}.csv");
        let mut sources: Vec<Value> =
            names.iter().map(|name| json!({"name": name, "file": file, "columns": columns})).collect();
        sources.push(json!({"name": "y", "connection": "c", "table": "t"}));
        json!({
            "name": "a", "description": description, "sources": sources, "key": key, "tolerances": tolerances,
            "retries": retries, "deadline": format!("{deadline}s"),
            "params": {"d": {"type": "date", "default": format!("{{{{ today - {move_days}d }}}}")}},
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_jobs_round_trip(document in document()) {
        let names = document["sources"].as_array().unwrap().iter().filter(|source| source["name"] == "y");
        prop_assume!(names.count() == 1);
        let first = job(&serde_json::to_string_pretty(&document).unwrap());
        let written = first.document();
        prop_assert_eq!(violations(&written), Vec::<String>::new());
        let second = job(&written.to_string());
        prop_assert_eq!(&second.document(), &written);
        prop_assert_eq!(second, first);
    }

    #[test]
    fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        refused(&bytes);
    }

    #[test]
    fn random_yaml_is_refused(text in "([a-z{}\\[\\]:,&*!|>'\"%@`?#\\-\\n\\t ]|: |\n  |- ){0,80}") {
        refused(text.as_bytes());
    }

    #[test]
    fn broken_jobs_do_not_panic(
        example in 0..4_usize,
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..12_usize, "[\\PC\\n]{0,6}"), 1..4),
    ) {
        let mut text: Vec<char> = examples()[example].chars().collect();
        for (at, length, with) in cuts {
            let at = at.index(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, with.chars());
        }
        let text: String = text.into_iter().collect();
        match Job::parse(text.as_bytes(), None) {
            Ok(job) => prop_assert_eq!(Job::parse(job.document().to_string().as_bytes(), None), Ok(job)),
            Err(faults) => prop_assert!(faults.iter().count() > 0),
        }
    }
}

fn refused(bytes: &[u8]) {
    let faults = Job::parse(bytes, None).expect_err("nobody writes a job by chance");
    assert!(faults.iter().count() > 0);
    let lines = bytes.split(|byte| *byte == b'\n').count();
    assert!(faults.iter().all(|fault| (1..=lines + 1).contains(&fault.place.line)), "{faults}");
}
