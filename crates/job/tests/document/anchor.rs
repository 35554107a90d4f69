//! A job that is anchored means the same from any working directory.

use std::path::Path;

use serde_json::Value;
use trueup_job::{AnchorError, Job, Rows};

use crate::examples::{examples, job};

fn with_file(file: &str) -> Job {
    let file = Value::from(file);
    job(&format!(
        "{{name: a, key: [id], params: {{p: {{type: string}}}}, sources: {{x: {{file: {file}}}, y: {{file: /y.csv}}}}}}"
    ))
}

fn file(job: &Job) -> String {
    let Rows::Files { path, .. } = &job.sources[0].rows else { panic!("it is a file") };
    path.to_string()
}

#[test]
fn relative_paths_stand_under_the_folder() {
    let table = [
        ("/jobs", "x.csv", "/jobs/x.csv"),
        ("/jobs/", "in/x.csv", "/jobs/in/x.csv"),
        ("/", "x.csv", "/x.csv"),
        ("/jobs", "/x.csv", "/x.csv"),
        ("/jobs", "../x.csv", "/jobs/../x.csv"),
        ("/jobs", "{{ params.p }}/x.csv", "/jobs/{{ params.p }}/x.csv"),
        ("/jobs", "s3://bucket/x.csv", "s3://bucket/x.csv"),
        ("/jo[b]s", "x.csv", "/jo[b]s/x.csv"),
        ("/jo[b]s*", "*.csv", "/jo[[]b]s[*]/*.csv"),
    ];
    for (folder, path, expected) in table {
        let anchored = with_file(path).anchored_at(Path::new(folder)).unwrap();
        assert_eq!(file(&anchored), expected);
        assert_eq!(job(&anchored.document().to_string()), anchored);
        assert_eq!(anchored.anchored_at(Path::new("/elsewhere")).as_ref(), Ok(&anchored), "{expected}");
    }
}

#[test]
fn connections_to_files_do_too() {
    let text = "
name: a
key: [id]
connections:
  inbox: {type: file, path: in}
  local: {type: sqlite, path: '${env:DATA}/x.db'}
sources: {x: {connection: inbox, file: x.csv}, y: {connection: local, table: t}}
";
    let anchored = job(text).anchored_at(Path::new("/jobs")).unwrap();
    assert_eq!(anchored.document()["connections"]["inbox"]["path"], "/jobs/in");
    assert_eq!(anchored.document()["connections"]["local"]["path"], "${env:DATA}/x.db");
    assert_eq!(file(&anchored), "x.csv");
}

#[test]
fn every_example_can_be_anchored() {
    for text in examples() {
        let anchored = job(text).anchored_at(Path::new("/var/lib/trueup/jobs")).unwrap();
        assert_eq!(job(&anchored.document().to_string()), anchored);
    }
}

#[test]
fn folders_that_would_mean_something_else_are_refused() {
    let job = with_file("x.csv");
    assert!(matches!(job.anchored_at(Path::new("jobs")), Err(AnchorError::NotAbsolute { .. })));
    for folder in ["/{{ today }}", "/{{ x", "/token=abc", &"/long".repeat(1000)] {
        let refused = job.anchored_at(Path::new(folder));
        assert!(matches!(refused, Err(AnchorError::Unfit { .. })), "{folder}: {refused:?}");
    }
}
