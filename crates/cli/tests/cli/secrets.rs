//! What a source refuses is told with its name and its words, and what it was asked with is told nowhere.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use serde_json::Value;
use trueup_testkit::{Mariadb, Postgres, S3};

use crate::place::Place;

/// A web server that knows nobody.
fn unfriendly() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let asked = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            assert!(asked.take_while(|line| !line.is_empty()).count() > 0);
            stream
                .write_all(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                .unwrap();
        }
    });
    address.to_string()
}

/// Whether any file below a folder has a text in it.
fn is_below(folder: &Path, text: &[u8]) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        let has_it = |bytes: Vec<u8>| bytes.windows(text.len()).any(|found| found == text);
        if path.is_dir() { is_below(&path, text) } else { has_it(fs::read(path).unwrap()) }
    })
}

#[test]
fn no_password_is_told_by_any_command() {
    let postgres = Postgres::start_guarded().unwrap();
    let s3 = S3::start(Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/moto")));
    s3.put("lake", b"");
    s3.ask_who_reads();
    let web = unfriendly();
    let mariadb = Mariadb::shared().url("mysql").replace(Mariadb::PASSWORD, "hunter3");
    let query = "query: select 1 as txn_id";
    let lake = format!(
        "{{type: s3, region: us-east-1, endpoint: '{}', access_key_id: reader, secret_access_key: '${{env:SECRET}}'}}",
        s3.url()
    );
    let url = |kind: &str| format!("{{type: {kind}, url: '${{env:SECRET}}'}}");
    let mut cases = vec![
        (
            url("postgres"),
            query.to_owned(),
            postgres.url("ann:hunter3", "postgres"),
            "there: erp: password authentication failed",
        ),
        (url("mysql"), query.to_owned(), mariadb, "there: erp: Access denied for user"),
        (
            lake,
            "file: 's3://lake/a.csv'".to_owned(),
            "hunter3".to_owned(),
            "there: s3://lake/a.csv: 403 Forbidden",
        ),
        (
            "{type: http, user: ann, password: '${env:SECRET}'}".to_owned(),
            format!("file: 'http://{web}/a.csv'"),
            "hunter3".to_owned(),
            "/a.csv: 401 Unauthorized",
        ),
    ];
    if cfg!(feature = "odbc") {
        let string = trueup_testkit::odbc_to_postgres(&postgres.url("ann:hunter3", "postgres"));
        let connection = "{type: odbc, connection_string: '${env:SECRET}'}".to_owned();
        cases.push((connection, query.to_owned(), string, "password authentication failed"));
    }
    for (connection, source, secret, words) in cases {
        let place = Place::with_ledger_and_bank();
        let job = format!(
            "name: a\nkey: [txn_id]\nconnections: {{erp: {connection}}}\nsources:\n  here: {{file: ledger.csv}}\n  there: {{connection: erp, {source}}}\n"
        );
        fs::write(place.path().join("job.yaml"), job).unwrap();
        let said = |arguments: &[&str]| {
            let ran =
                place.trueup(arguments).env("SECRET", &secret).env("TRUEUP_LOG", "trace").output().unwrap();
            let text =
                [ran.stdout.clone(), ran.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
            assert!(!text.contains("hunter"), "{arguments:?}: {text}");
            (ran.status.code(), String::from_utf8(ran.stdout).unwrap(), text)
        };
        let (code, _, text) = said(&["run", "job.yaml"]);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(words), "{text}");
        let listed: Value = serde_json::from_str(&said(&["runs", "list", "--json"]).1).unwrap();
        let shown = said(&["runs", "show", listed[0]["run_id"].as_str().unwrap(), "--json"]).1;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let error = &shown["error"];
        assert_eq!(
            (&error["code"], &error["reason"]),
            (&"QUERY_FAILED".into(), &"CONNECTION_FAILED".into()),
            "{shown}"
        );
        assert!(error["message"].as_str().unwrap().contains(words), "{shown}");
        assert!(!shown.to_string().contains("MATCHED"), "{shown}");
        assert!(!is_below(place.path(), b"hunter"), "{connection}: it is kept on disk");
    }
}
