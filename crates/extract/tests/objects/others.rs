//! Azure, on a server that is made for tests of it, and Google's store, whose XML API is the one of S3.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use trueup_testkit::{Azure, S3};

use crate::web::{answer, serve};
use crate::{environment_of_moto, gzip, open, refusal, rows};

fn azure() -> &'static Azure {
    static SERVER: OnceLock<Azure> = OnceLock::new();
    SERVER.get_or_init(|| {
        let server = Azure::start(Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/azurite")));
        server.make("bank");
        files().for_each(|(path, content)| server.put(path, &content));
        server
    })
}

fn google() -> &'static S3 {
    static SERVER: OnceLock<S3> = OnceLock::new();
    SERVER.get_or_init(|| {
        let server = S3::start(environment_of_moto());
        server.put("bank", b"");
        files().for_each(|(path, content)| server.put(path, &content));
        server
    })
}

fn files() -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    [
        ("bank/2026/a.csv.gz", gzip("id,n\n1,x\n2,y\n")),
        ("bank/2026/b.csv", b"id,n\n3,z\n".to_vec()),
        ("bank/2026/sub/c%20d.csv", b"id,n\n4,w\n".to_vec()),
        ("bank/2026/sub/_SUCCESS", Vec::new()),
    ]
    .into_iter()
}

/// One object, a prefix and a glob of either store.
const READ: [(&str, &[&str]); 4] = [
    ("bank/2026/b.csv", &["3,z"]),
    ("bank/2026", &["1,x", "2,y", "3,z", "4,w"]),
    ("bank/2026/[ab].*", &["1,x", "2,y", "3,z"]),
    ("bank/**/c d.csv", &["4,w"]),
];

#[test]
fn azure_is_read_with_a_key_and_with_a_signature() {
    let endpoint = azure().url();
    let place = [("AZURE_STORAGE_ACCOUNT_NAME", Azure::ACCOUNT), ("AZURE_STORAGE_ENDPOINT", &endpoint)];
    for credential in [("AZURE_STORAGE_ACCOUNT_KEY", Azure::KEY), ("AZURE_STORAGE_SAS_TOKEN", Azure::SAS)] {
        let settings = [place[0], place[1], credential];
        for (path, expected) in READ {
            let (table, told) = open(&format!("az://{path}"), &settings);
            let table = table.unwrap_or_else(|error| panic!("{path}: {error}"));
            assert_eq!(rows(&table), expected, "{path}");
            assert_eq!(told.last(), Some(&(table.bytes(), table.bytes())), "{path}");
        }
    }
    let known = [place[0], place[1], ("AZURE_STORAGE_ACCOUNT_KEY", Azure::KEY)];
    let wrong = [place[0], place[1], ("AZURE_STORAGE_ACCOUNT_KEY", "c29tZWJvZHkgZWxzZQ==")];
    let refused = [
        refusal("az://bank/2026/bb.csv", &known),
        refusal("az://banc/2026/b.csv", &known),
        refusal("az://bank/2026/*.parquet", &known),
        refusal("az://bank/2026/b.csv", &wrong),
        refusal("az://bank/2026/*.csv", &wrong),
    ];
    insta::assert_snapshot!(refused.join("\n"), @r"
    Missing: az://bank/2026/bb.csv: 404 Not Found: BlobNotFound: The specified blob does not exist.; did you mean b.csv?
    Missing: az://banc/2026/b.csv: 404 Not Found: ContainerNotFound: The specified container does not exist.
    az://bank/2026/*.parquet: no file matches; quote the pattern so that the shell leaves it alone, and check the directory
    Connection: az://bank/2026/b.csv: 403 Forbidden: AuthorizationFailure: Server failed to authenticate the request. Make sure the value of the Authorization header is formed correctly including the signature.
    Connection: az://bank/2026/*.csv: 403 Forbidden: AuthorizationFailure: Server failed to authenticate the request. Make sure the value of the Authorization header is formed correctly including the signature.
    ");
}

/// The key of a service account of a Google that is at another address.
fn service_account(url: &str) -> String {
    let made = Command::new("openssl").args(["genpkey", "-algorithm", "RSA"]).output().unwrap();
    let key = String::from_utf8(made.stdout).unwrap().replace('\n', "\\n");
    format!(
        "{{\"type\": \"service_account\", \"client_email\": \"reader@books\", \"private_key_id\": \"k1\", \"private_key\": \"{key}\", \"gcs_base_url\": \"{url}\"}}"
    )
}

#[test]
fn google_is_read() {
    let account = service_account(&google().url());
    let settings = [("GOOGLE_SERVICE_ACCOUNT_KEY", account.as_str())];
    for (path, expected) in READ {
        let (table, told) = open(&format!("gs://{path}"), &settings);
        let table = table.unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(rows(&table), expected, "{path}");
        assert_eq!(told.last(), Some(&(table.bytes(), table.bytes())), "{path}");
    }
    let refused = ["bank/2026/bb.csv", "banc/2026/b.csv", "bank/2026/*.parquet"]
        .map(|path| refusal(&format!("gs://{path}"), &settings));
    insta::assert_snapshot!(refused.join("\n"), @"
    Missing: gs://bank/2026/bb.csv: 404 Not Found: NoSuchKey: The specified key does not exist.; did you mean b.csv?
    Missing: gs://banc/2026/b.csv: 404 Not Found: NoSuchBucket: The specified bucket does not exist
    gs://bank/2026/*.parquet: no file matches; quote the pattern so that the shell leaves it alone, and check the directory
    ");
}

/// Google knows a service account by what its private key has signed, and nobody plays that but this test.
#[test]
fn google_is_told_who_reads() {
    let refusing = "<Error><Code>AccessDenied</Code><Message>Access denied.</Message></Error>";
    let (url, asked) = serve(vec![answer("200 OK", DATED, "id\n7\n"), answer("403 Forbidden", "", refusing)]);
    let account = service_account(&url);
    let settings = [("GOOGLE_SERVICE_ACCOUNT_KEY", account.as_str())];
    assert_eq!(rows(&open("gs://bank/a.csv", &settings).0.unwrap()), ["7"]);
    assert_eq!(
        refusal("gs://bank/a.csv", &settings),
        "Connection: gs://bank/a.csv: 403 Forbidden: AccessDenied: Access denied."
    );
    let asked = asked.join().unwrap();
    assert!(asked[0].starts_with("GET /bank/a%2Ecsv HTTP/1.1\n"), "{}", asked[0]);
    let token = asked[0].lines().find_map(|line| line.strip_prefix("authorization: Bearer ")).unwrap();
    let said = |part: &str| String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap();
    let parts: Vec<&str> = token.split('.').collect();
    assert!(said(parts[0]).contains("\"kid\":\"k1\""), "{}", said(parts[0]));
    assert!(said(parts[1]).contains("\"iss\":\"reader@books\""), "{}", said(parts[1]));
    assert_eq!(parts.len(), 3, "it is signed");
}

const DATED: &str = "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nETag: \"1\"\r\n";
