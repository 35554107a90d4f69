//! `trueup events tail`: the log, all of it or as it grows.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::shared_store::{Shared, masked};

#[test]
fn the_log_is_printed_a_line_each() {
    for shared in [Shared::sqlite(), Shared::postgres()] {
        let (first, second) = (shared.trigger().to_string(), shared.trigger().to_string());
        shared.shown(&["runs", "cancel", &first]);
        insta::allow_duplicates! {
            insta::assert_snapshot!(masked(&shared.shown(&["events", "tail"])), @r#"
            exit 0
              1 TIME ID1 run.triggered mode=IMMEDIATE triggered_by=ann
              2 TIME ID1 execution.requested queue=default
              3 TIME ID2 run.triggered mode=IMMEDIATE triggered_by=ann
              4 TIME ID2 execution.requested queue=default
              5 TIME ID1 run.cancel_requested cancelled_by=ann reason=""
              6 TIME ID1 run.cancelled cancelled_by=ann reason=""
              7 TIME ID1 execution.completed state=cancelled
            "#);
        }
        let table: [(&[&str], Vec<u64>); 5] = [
            (&["--from", "4"], vec![5, 6, 7]),
            (&["--run", &second], vec![3, 4]),
            (&["--type", "run.triggered"], vec![1, 3]),
            (&["--type", "run.triggered,com.datarecs.reconciliation.run.cancelled"], vec![1, 3, 6]),
            (&["--run", &first, "--from", "2", "--type", "somebody.elses"], vec![]),
        ];
        for (more, expected) in table {
            let output = shared.trueup(&[&["events", "tail", "--json"], more].concat()).output().unwrap();
            let positions: Vec<u64> = (output.stdout.split(|byte| *byte == b'\n'))
                .filter(|line| !line.is_empty())
                .map(|line| {
                    let event: Value = serde_json::from_slice(line).unwrap();
                    assert_eq!(event["specversion"], "1.0");
                    event["sequence"].as_str().unwrap().parse().unwrap()
                })
                .collect();
            assert_eq!(positions, expected, "{more:?}");
        }
    }
}

#[test]
fn a_follower_misses_nothing_and_ends_with_its_reader() {
    for shared in [Shared::sqlite(), Shared::postgres()] {
        shared.trigger();
        let mut child = shared
            .trueup(&["events", "tail", "--follow", "--json", "--from", "1"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = || {
            let event: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            event["sequence"].as_str().unwrap().parse::<u64>().unwrap()
        };
        assert_eq!(next(), 2);
        for position in [3, 5] {
            shared.trigger();
            assert_eq!((next(), next()), (position, position + 1));
        }
        drop(lines);
        shared.trigger();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
    }
}
