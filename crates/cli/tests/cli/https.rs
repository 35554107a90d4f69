//! Files over HTTPS, and whom a web server may turn out to be.

use std::path::Path;

use trueup_testkit::{Web, certify};

use crate::place::{Place, shown};

#[test]
fn a_web_server_is_trusted_as_the_machine_trusts() {
    let place = Place::with_ledger_and_bank();
    let secret = tempfile::tempdir().unwrap();
    let (root, root_key) = certify(secret.path(), "root", &[]);
    let (stranger, _) = certify(secret.path(), "stranger", &[]);
    let signed = ["-CA", root.to_str().unwrap(), "-CAkey", root_key.to_str().unwrap()];
    let no_root = ["-addext", "basicConstraints=critical,CA:FALSE"];
    let (certificate, key) = certify(secret.path(), "server", &[signed.as_slice(), &no_root].concat());
    let web = Web::start_encrypted(place.path(), &certificate, &key);
    let diff = |url: &str, trusted: &Path| {
        let sources = ["here=ledger.csv".to_owned(), format!("there={url}/ledger.csv?sig=hunter2")];
        let mut command = place.command(&["--key", "txn_id", "--quiet"]);
        let said = shown(command.args(sources).env("SSL_CERT_FILE", trusted).output().unwrap());
        assert!(!said.contains("hunter2"), "{said}");
        said.replace(url, "https://…")
    };
    let url = web.url();
    assert!(diff(&url, &root).starts_with("exit 0\nMATCHED"));
    let refused = [
        diff(&url, &stranger),
        diff(&url.replace("localhost", "127.0.0.1"), &root),
        diff(&url, &place.path().join("ledger.csv")),
    ];
    insta::assert_snapshot!(refused.join(""), @r#"
    exit 2
    error: there: https://…/ledger.csv: invalid peer certificate: UnknownIssuer
    exit 2
    error: there: https://…/ledger.csv: invalid peer certificate: certificate not valid for name "127.0.0.1"; certificate is only valid for DnsName("localhost")
    exit 2
    error: there: https://…/ledger.csv: invalid peer certificate: UnknownIssuer
    "#);
}
