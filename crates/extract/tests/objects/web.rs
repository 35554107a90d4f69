//! Web servers that do what web servers do: answer, point elsewhere, ask who reads, and break off.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use trueup_extract::{Access, Error, Objects, Options, Scheme};

use crate::{open, refusal, rows};

/// A server that gives these answers, one to each connection, and then says what it was asked.
pub(crate) fn serve(answers: Vec<String>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = thread::spawn(move || {
        let mut asked = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            asked.push(lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n"));
            stream.write_all(answer.as_bytes()).unwrap();
        }
        asked
    });
    (url, asked)
}

pub(crate) fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

#[test]
fn a_file_is_fetched_as_who_reads_it() {
    let (url, asked) = serve(vec![answer("200 OK", "", "id,n\n1,x\n"); 3]);
    let file = format!("{url}/day%201/a.csv?sig=hunter2");
    let (table, told) = open(&file, &[("token", "hunter2")]);
    let table = table.unwrap();
    assert_eq!(rows(&table), ["1,x"]);
    assert_eq!(told, [(9, 9)]);
    assert_eq!(table.place(0, 0).unwrap(), format!("{url}/day%201/a.csv, line 2"));
    open(&file.replace("//", "//ann:p%40ss@"), &[]).0.unwrap();
    open(&file, &[("user", "ann"), ("password", "p@ss")]).0.unwrap();
    let asked = asked.join().unwrap();
    assert!(asked[0].starts_with("GET /day%201/a.csv?sig=hunter2 HTTP/1.1\n"), "{}", asked[0]);
    let told: Vec<&str> =
        asked.iter().filter_map(|head| head.lines().find(|line| line.starts_with("authorization"))).collect();
    assert_eq!(
        told,
        [
            "authorization: Bearer hunter2",
            "authorization: Basic YW5uOnBAc3M=",
            "authorization: Basic YW5uOnBAc3M="
        ]
    );
}

#[test]
fn a_server_points_elsewhere() {
    let (second, asked_second) = serve(vec![answer("200 OK", "", "id\n7\n")]);
    let (first, asked_first) = serve(vec![
        answer("302 Found", "Location: /b.csv\r\n", ""),
        answer("301 Moved Permanently", &format!("Location: {second}/c.csv\r\n"), ""),
    ]);
    let (table, _) = open(&format!("{first}/a.csv"), &[("token", "hunter2")]);
    assert_eq!(rows(&table.unwrap()), ["7"]);
    assert!(asked_first.join().unwrap()[1].contains("Bearer hunter2"));
    assert!(!asked_second.join().unwrap()[0].contains("hunter2"), "it is told to somebody else");
}

#[test]
fn what_a_server_refuses() {
    let page = "<html>not here</html>";
    let cases = [
        vec![answer("404 Not Found", "", page)],
        vec![answer("403 Forbidden", "", page)],
        vec![answer("401 Unauthorized", "", page)],
        vec!["HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nid,n\n1,x\n".to_owned()],
        vec![answer("302 Found", "Location: /a.csv\r\n", ""); 5],
        vec!["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nid\n\r\n0\r\n\r\n".to_owned()],
        vec![answer("503 Service Unavailable", "", page); 4],
    ];
    let mut shown = Vec::new();
    for answers in cases {
        let (url, asked) = serve(answers);
        shown.push(refusal(&format!("{url}/a.csv?sig=hunter2"), &[("token", "hunter2")]));
        asked.join().unwrap();
    }
    shown.push(refusal("http://127.0.0.1/*.csv", &[]));
    insta::assert_snapshot!(shown.join("\n"), @r#"
    Missing: http://127.0.0.1:…/a.csv: 404 Not Found
    Connection: http://127.0.0.1:…/a.csv: 403 Forbidden
    Connection: http://127.0.0.1:…/a.csv: 401 Unauthorized
    Connection: http://127.0.0.1:…/a.csv: end of file before message length reached
    Connection: http://127.0.0.1:…/a.csv: the server points from one address to the next without end
    Connection: http://127.0.0.1:…/a.csv: Content-Length Header missing from response
    Connection: http://127.0.0.1:…/a.csv: 503 Service Unavailable
    Url: http://127.0.0.1/*.csv: a web server does not list its files, so that wildcards cannot be matched; name the file
    "#);
}

#[test]
fn an_object_that_changes_after_it_was_listed() {
    let listing = "<ListBucketResult><Contents><Key>a.csv</Key><Size>5</Size><ETag>\"1\"</ETag><LastModified>2026-01-01T00:00:00Z</LastModified></Contents></ListBucketResult>";
    let (url, asked) = serve(vec![answer("200 OK", "", listing), answer("412 Precondition Failed", "", "")]);
    let settings = [("AWS_ENDPOINT_URL", url.as_str()), ("AWS_SKIP_SIGNATURE", "true")];
    assert_eq!(
        refusal("s3://bank/*.csv", &settings),
        "s3://bank/a.csv: the file changed while it was being read; run again when nobody writes to it"
    );
    assert!(asked.join().unwrap()[1].contains("if-match: \"1\""));
}

#[test]
fn fetching_is_called_off() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a.csv", listener.local_addr().unwrap());
    let is_stopped = AtomicBool::new(false);
    let access = Access::of_environment(Scheme::Http, |_| None);
    let place = tempfile::tempdir().unwrap();
    let stopped = thread::scope(|scope| {
        scope.spawn(|| {
            // Somebody has asked, and is not answered.
            let asked = listener.accept().unwrap();
            is_stopped.store(true, Ordering::Relaxed);
            asked
        });
        let is_stopped = || is_stopped.load(Ordering::Relaxed);
        let objects =
            Objects { url: &url, access: &access, has_rows: true, is_stopped: &is_stopped, tell: &|_, _| () };
        let started = Instant::now();
        (objects.open(&Options::new(place.path())).map(|_| ()), started.elapsed())
    });
    assert!(matches!(stopped.0, Err(Error::Stopped)), "{:?}", stopped.0);
    assert!(stopped.1 < Duration::from_secs(1), "{:?}", stopped.1);
}
