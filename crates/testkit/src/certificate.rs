//! Certificates that nobody else trusts.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes a certificate for `localhost` and its key, with further arguments of `openssl req`.
///
/// # Panics
///
/// When there is no `openssl`, or it refuses: no test that asks for it can go on.
pub fn certify(dir: &Path, name: &str, more: &[&str]) -> (PathBuf, PathBuf) {
    let (certificate, key) = (dir.join(format!("{name}.crt")), dir.join(format!("{name}.key")));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
        .args(["-days", "2", "-subj", &format!("/CN={name}"), "-addext", "subjectAltName=DNS:localhost"])
        .args(more)
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .unwrap_or_else(|error| panic!("openssl: {error}"));
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    (certificate, key)
}
