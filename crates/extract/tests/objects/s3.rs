//! S3: what is read of it, and what is said when it cannot be.

use std::net::TcpListener;
use std::sync::OnceLock;

use trueup_testkit::S3;

use crate::{Settings, environment_of_moto, gzip, open, refusal, rows};

fn server() -> &'static S3 {
    static SERVER: OnceLock<S3> = OnceLock::new();
    SERVER.get_or_init(|| {
        let server = S3::start(environment_of_moto());
        server.put("bank", b"");
        server.put("bank/2026/b.csv", b"id,n\n3,z\n");
        server.put("bank/2026/a.csv.gz", &gzip("id,n\n1,x\n2,y\n"));
        server.put("bank/2026/sub/c.csv", b"n,id\nw,4\n");
        server.put("bank/2026/sub/_SUCCESS", b"");
        server.put("bank/2026/.hidden.csv", b"other\n1\n");
        server.put("bank/notes/_readme.txt", b"about");
        let packed = gzip(&"id,n\n1,x\n".repeat(1000));
        server.put("bank/cut.csv.gz", &packed[..packed.len() - 12]);
        server.put("bank/empty.csv", b"");
        server
    })
}

/// Somebody whom the server takes for who they say they are.
fn settings(url: &str) -> [(&'static str, &str); 4] {
    [
        ("AWS_ENDPOINT_URL", url),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "reader"),
        ("AWS_SECRET_ACCESS_KEY", "hunter2hunter2"),
    ]
}

#[test]
fn one_object_a_prefix_and_a_glob() {
    let endpoint = server().url();
    let cases: [(&str, &[&str], &str); 6] = [
        ("s3://bank/2026/b.csv", &["3,z"], "CSV, delimiter ',', UTF-8, header"),
        ("s3://bank/2026/*.gz", &["1,x", "2,y"], "CSV, delimiter ',', UTF-8, gzip, header"),
        (
            "s3://bank/2026/[ab].*",
            &["1,x", "2,y", "3,z"],
            "CSV, delimiter ',', UTF-8, gzip, header; CSV, delimiter ',', UTF-8, header",
        ),
        (
            "s3://bank/2026",
            &["1,x", "2,y", "3,z", "4,w"],
            "CSV, delimiter ',', UTF-8, gzip, header; 2 files: CSV, delimiter ',', UTF-8, header",
        ),
        ("s3://bank/2026/sub/", &["w,4"], "CSV, delimiter ',', UTF-8, header"),
        ("s3://bank/**/c.csv", &["w,4"], "CSV, delimiter ',', UTF-8, header"),
    ];
    for (url, expected, described) in cases {
        let (table, told) = open(url, &settings(&endpoint));
        let table = table.unwrap_or_else(|error| panic!("{url}: {error}"));
        assert_eq!(rows(&table), expected, "{url}");
        assert_eq!(table.described(), described, "{url}");
        assert_eq!(told.last(), Some(&(table.bytes(), table.bytes())), "{url}");
    }
    let (table, _) = open("s3://bank/2026", &settings(&endpoint));
    assert_eq!(table.unwrap().place(1, 0).unwrap(), "s3://bank/2026/b.csv, line 2");
}

#[test]
fn what_a_store_refuses() {
    let endpoint = server().url();
    let nowhere = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nowhere = format!("http://{nowhere}");
    let mut shown = Vec::new();
    let mut say = |url: &str, settings: Settings| shown.push(refusal(url, settings));
    for key in [
        "2026/bb.csv",
        "2025",
        "2026/*.parquet",
        "notes",
        "notes/*.md",
        "2026/[",
        "a//b",
        "empty.csv",
        "cut.csv.gz",
    ] {
        say(&format!("s3://bank/{key}"), &settings(&endpoint));
    }
    say("s3://banc/2026/a.csv", &settings(&endpoint));
    say("s3://banc/2026/*.csv", &settings(&endpoint));
    say("s3://bank/2026/b.csv", &settings(&nowhere));
    say("s3://bank/2026/*.csv", &settings(&nowhere));
    say("s3://", &settings(&nowhere));
    let key = "aHVudGVyMmh1bnRlcjI=";
    let azure = [("AZURE_STORAGE_ACCOUNT_NAME", "books"), ("AZURE_STORAGE_ACCOUNT_KEY", key)];
    let azure_at = [azure[0], azure[1], ("AZURE_STORAGE_ENDPOINT", nowhere.as_str())];
    say("az://bank/a.csv", &azure_at);
    say("az://bank/a*.csv", &azure_at);
    say("az://bank/a.csv", &azure[1..]);
    say("az://bank/a.csv", &[azure[0], ("AZURE_STORAGE_ACCOUNT_KEY", "no base64 of hunter2")]);
    say("gs://bank/a.csv", &[("GOOGLE_BASE_URL", &nowhere), ("GOOGLE_SKIP_SIGNATURE", "true")]);
    say("gs://bank/a.csv", &[("GOOGLE_SERVICE_ACCOUNT_KEY", "\"hunter2hunter2\"")]);
    insta::assert_snapshot!(shown.join("\n"), @r#"
    Missing: s3://bank/2026/bb.csv: 404 Not Found: NoSuchKey: The specified key does not exist.; did you mean b.csv?
    Missing: s3://bank/2025: 404 Not Found: NoSuchKey: The specified key does not exist.
    s3://bank/2026/*.parquet: no file matches; quote the pattern so that the shell leaves it alone, and check the directory
    s3://bank/notes: no data files below this directory; known are .csv .tsv .jsonl .parquet .arrow .xlsx, text also with .gz or .zst
    s3://bank/notes/*.md: no file matches; quote the pattern so that the shell leaves it alone, and check the directory
    s3://bank/2026/[: not a pattern: Pattern syntax error near position 5: invalid range pattern
    Url: s3://bank/a//b: Path "a//b" contained empty path segment
    s3://bank/empty.csv: the file is empty; not even a header is there
    s3://bank/cut.csv.gz: cannot be read: incomplete deflate stream
    Missing: s3://banc/2026/a.csv: 404 Not Found: NoSuchBucket: The specified bucket does not exist
    Missing: s3://banc/2026/*.csv: 404 Not Found: NoSuchBucket: The specified bucket does not exist
    Connection: s3://bank/2026/b.csv: Connection refused (os error 111)
    Connection: s3://bank/2026/*.csv: Connection refused (os error 111)
    Url: s3://: there is no bucket or host in it
    Connection: az://bank/a.csv: Connection refused (os error 111)
    Connection: az://bank/a*.csv: Connection refused (os error 111)
    Url: az://bank/a.csv: Account must be specified
    Url: az://bank/a.csv: Invalid symbol 32, offset 2.
    Connection: gs://bank/a.csv: Connection refused (os error 111)
    Url: gs://bank/a.csv: invalid type: string …, expected struct ServiceAccountCredentials at line 1 column 16
    "#);
}

#[test]
fn somebody_whom_the_store_does_not_know() {
    let server = S3::start(environment_of_moto());
    server.put("bank", b"");
    server.put("bank/a.csv", b"id\n1\n");
    server.ask_who_reads();
    let refused = ["s3://bank/a.csv", "s3://bank/*.csv"].map(|url| refusal(url, &settings(&server.url())));
    insta::assert_snapshot!(refused.join("\n"), @r#"
    Connection: s3://bank/a.csv: 403 Forbidden: InvalidAccessKeyId: The AWS Access Key Id you provided does not exist in our records.
    Connection: s3://bank/*.csv: 403 Forbidden: InvalidAccessKeyId: The AWS Access Key Id you provided does not exist in our records.
    "#);
}
