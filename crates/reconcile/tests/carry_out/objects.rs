//! Jobs over objects of a real store.

use std::path::Path;

use trueup_events::outcome::Verdict;
use trueup_testkit::S3;

use crate::scene::Scene;

const JOB: &str = "
name: a
key: [id]
connections:
  lake: {type: s3, region: us-east-1, endpoint: '${env:LAKE}', access_key_id: reader, secret_access_key: '${env:LAKE_KEY}'}
sources:
  ledger: {file: a.csv}
  bank: {connection: lake, file: 's3://bank/PATH'}
";

const WHOLE: &str = "id,n\n1,x\n2,y\n";

#[test]
fn objects_are_compared_and_refused_as_files_are() {
    let server = S3::start(Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/moto")));
    server.put("bank", b"");
    server.put("bank/a/1.csv", b"id,n\n1,x\n");
    server.put("bank/a/2.csv", b"id,n\n2,y\n");
    server.put("bank/b/_readme.txt", b"about");
    server.put("bank/c.csv.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03");
    server.put("bank/d.csv", b"");
    let mut scene = Scene::new(&[("a.csv", WHOLE)]);
    scene.variables.insert("LAKE", server.url());
    scene.variables.insert("LAKE_KEY", "hunter2".to_owned());
    let (told, outcome) = scene.carry_out(&JOB.replace("PATH", "a/*.csv"), &[]);
    assert_eq!(outcome.unwrap().verdict, Verdict::Matched);
    let shown = scene.shown(&told);
    assert!(shown.contains(r#""connection_type":"s3","source_name":"bank""#), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");

    // Without a connection, the environment says the same.
    for (name, value) in [
        ("AWS_ENDPOINT_URL", server.url()),
        ("AWS_ACCESS_KEY_ID", "reader".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "hunter2".to_owned()),
    ] {
        scene.variables.insert(name, value);
    }
    let (_, outcome) = scene.carry_out(&JOB.replace("connection: lake, ", "").replace("PATH", "a"), &[]);
    assert_eq!(outcome.unwrap().verdict, Verdict::Matched);

    let reasons = ["a/3.csv", "a/*.gz", "b", "c.csv.gz", "d.csv"]
        .map(|path| scene.reason(scene.carry_out(&JOB.replace("PATH", path), &[]).1));
    scene.variables.insert("LAKE", "http://127.0.0.1:1".to_owned());
    let nobody = scene.reason(scene.carry_out(&JOB.replace("PATH", "a"), &[]).1);
    insta::assert_snapshot!(reasons.join("\n") + "\n" + &nobody, @"
    SOURCE_MISSING: bank: s3://bank/a/3.csv: 404 Not Found: NoSuchKey: The specified key does not exist.; did you mean 1.csv or 2.csv?
    SOURCE_MISSING: bank: s3://bank/a/*.gz: no file matches; quote the pattern so that the shell leaves it alone, and check the directory
    SOURCE_MISSING: bank: s3://bank/b: no data files below this directory; known are .csv .tsv .jsonl .parquet .arrow .xlsx, text also with .gz or .zst
    SOURCE_INVALID: bank: s3://bank/c.csv.gz: cannot be read: incomplete deflate stream
    SOURCE_INVALID: bank: s3://bank/d.csv: the file is empty; not even a header is there; an empty source is a header without rows
    CONNECTION_FAILED: bank: s3://bank/a: Connection refused (os error 111); check the `connection` of the source or, without one, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and, if it is not Amazon's, AWS_ENDPOINT_URL
    ");
}
