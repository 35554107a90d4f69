//! Where a MySQL is, and who asks.

use std::path::PathBuf;

use crate::encryption::{Asked, Encryption, UrlError, Words, decoded, refused};
use crate::tls::Trust;

/// The port of a server that says nothing else.
const PORT: u16 = 3306;

/// How MySQL's own clients call what they take about encryption.
const WORDS: Words = Words {
    mode: "ssl-mode",
    root: "ssl-ca",
    modes: ["DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"],
};

/// An address with its credentials; it is never shown.
pub(super) struct Address {
    pub(super) host: Host,
    pub(super) user: String,
    pub(super) password: String,
    pub(super) database: Option<String>,
    pub(super) encryption: Encryption,
}

/// Where the server listens.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(super) enum Host {
    Name { name: String, port: u16 },
    Socket(PathBuf),
}

impl Address {
    /// Reads a URL: `mysql://USER:PASSWORD@HOST:PORT/DATABASE`, where a host that is a path is a socket.
    pub(super) fn read(url: &str) -> Result<(Self, Trust), UrlError> {
        let rest = ["mysql://", "mariadb://"].iter().find_map(|scheme| url.strip_prefix(scheme));
        let rest = rest.ok_or_else(|| refused("it does not start with mysql:// or mariadb://"))?;
        // A password may contain any of the marks that follow.
        let (credentials, rest) = rest.rsplit_once('@').unwrap_or(("", rest));
        let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
        let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, database) = rest.split_once('/').unwrap_or((rest, ""));
        let mut asked = Asked::default();
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            if !asked.take(&WORDS, name, value)? {
                return Err(refused(format!("{name}: there are only {} and {}", WORDS.mode, WORDS.root)));
            }
        }
        let (encryption, trust) = asked.judge(&WORDS)?;
        let host = Host::read(host)?;
        // As elsewhere, nothing is encrypted that does not leave the machine.
        let encryption = if matches!(host, Host::Socket(_)) { Encryption::Never } else { encryption };
        let database = Some(decoded(database)?).filter(|name| !name.is_empty());
        let (user, password) = (decoded(user)?, decoded_secret(password)?);
        Ok((Self { host, user, password, database, encryption }, trust))
    }
}

impl Host {
    fn read(text: &str) -> Result<Self, UrlError> {
        let port_of = |digits: &str| digits.parse().map_err(|_| refused(format!("{digits:?} is no port")));
        let (name, port) = match text.strip_prefix('[').and_then(|text| text.split_once(']')) {
            Some((name, "")) => (name, PORT),
            Some((name, port)) => (name, port_of(port.trim_start_matches(':'))?),
            None => match text.split_once(':') {
                Some((name, port)) => (name, port_of(port)?),
                None => (text, PORT),
            },
        };
        let name = decoded(name)?;
        if name.is_empty() {
            return Err(refused("it names no host"));
        }
        Ok(if name.starts_with('/') { Self::Socket(name.into()) } else { Self::Name { name, port } })
    }
}

/// Decodes what an error may not repeat.
fn decoded_secret(value: &str) -> Result<String, UrlError> {
    decoded(value).map_err(|_| refused("the password is not UTF-8 once its percent signs are decoded"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_say_where_and_who() {
        let name = |name: &str, port| Host::Name { name: name.to_owned(), port };
        let table = [
            ("mysql://h", name("h", 3306), ("", "", None)),
            ("mariadb://ann@h:3307/erp", name("h", 3307), ("ann", "", Some("erp"))),
            ("mysql://a%40b:x@/?:y%25@h/", name("h", 3306), ("a@b", "x@/?:y%", None)),
            ("mysql://ann@[::1]:3307/d?ssl-mode=disabled", name("::1", 3307), ("ann", "", Some("d"))),
            ("mysql://ann@%2Frun%2Fs/d", Host::Socket("/run/s".into()), ("ann", "", Some("d"))),
        ];
        for (url, host, (user, password, database)) in table {
            let (address, _) = Address::read(url).unwrap();
            assert_eq!(address.host, host, "{url}");
            assert_eq!((address.user.as_str(), address.password.as_str()), (user, password), "{url}");
            assert_eq!(address.database.as_deref(), database, "{url}");
        }
    }

    #[test]
    fn a_url_that_leads_nowhere_is_refused_without_its_password() {
        let table = [
            ("postgres://ann:hunter2@h", "mysql://"),
            ("mysql://ann:hunter2@/d", "names no host"),
            ("mysql://ann:hunter2@h:x", "\"x\" is no port"),
            ("mysql://ann:hunter2%ff@h", "the password"),
            ("mysql://ann:hunter2@h?ssl-mode=maybe", "ssl-mode=maybe: write DISABLED,"),
            ("mysql://ann:hunter2@h?ssl-mode=VERIFY_CA", "ssl-ca has to name a file"),
            ("mysql://ann:hunter2@h?sslmode=require", "sslmode: there are only ssl-mode and ssl-ca"),
        ];
        for (url, words) in table {
            let error = Address::read(url).map(drop).unwrap_err().to_string();
            assert!(error.contains(words) && !error.contains("hunter2"), "{url}: {error}");
        }
    }

    #[test]
    fn only_what_leaves_the_machine_is_encrypted() {
        let table = [
            ("mysql://h", Encryption::IfOffered),
            ("mysql://h?ssl-mode=DISABLED", Encryption::Never),
            ("mysql://h?ssl-mode=required", Encryption::Always),
            ("mysql://%2Frun%2Fs?ssl-mode=REQUIRED", Encryption::Never),
        ];
        for (url, encryption) in table {
            assert_eq!(Address::read(url).unwrap().0.encryption, encryption, "{url}");
        }
    }
}
