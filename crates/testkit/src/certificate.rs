//! Certificates that nobody else trusts.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The certificate of a server, and who may have signed it.
pub struct Certified {
    /// Who has.
    pub root: PathBuf,
    /// Somebody who has not.
    pub stranger: PathBuf,
    /// The certificate, which can sign no other.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// Makes a certificate for `localhost` that another has signed.
///
/// # Panics
///
/// As [`certify`].
pub fn certify_server(dir: &Path) -> Certified {
    let (root, root_key) = certify(dir, "root", &[]);
    let (stranger, _) = certify(dir, "stranger", &[]);
    let (ca, ca_key) = (root.to_string_lossy(), root_key.to_string_lossy());
    let more = ["-CA", &ca, "-CAkey", &ca_key, "-addext", "basicConstraints=critical,CA:FALSE"];
    let (certificate, key) = certify(dir, "server", &more);
    Certified { root, stranger, certificate, key }
}

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
