//! Where a PostgreSQL is, and how it is talked to.

use std::time::Duration;

use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config, Connection, Error, Socket};

use crate::encryption::{Asked, Encryption, UrlError, Words, refused};
use crate::tls::{Encrypted, Tls};

/// A server that is told to encrypt without asking first has to be told what for.
const PROTOCOL: &[u8] = b"postgresql";

/// A server that connections can be made to.
#[derive(Debug, Clone)]
pub struct Server {
    config: Config,
    tls: Tls,
}

impl Server {
    /// Reads a URL, and bounds how long the server may be silent.
    pub fn at(url: &str, patience: Duration) -> Result<Self, UrlError> {
        let (plain, asked) = asked(url)?;
        let mut config: Config = plain.parse().map_err(|error: Error| {
            refused(match std::error::Error::source(&error) {
                Some(cause) => format!("{error}: {cause}"),
                None => error.to_string(),
            })
        })?;
        let (encryption, trust) = asked.judge(&WORDS)?;
        let mode = match encryption {
            Encryption::Never => SslMode::Disable,
            Encryption::IfOffered => SslMode::Prefer,
            Encryption::Always => SslMode::Require,
        };
        // As elsewhere, nothing is encrypted that does not leave the machine.
        let is_local = config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
        config.ssl_mode(if is_local && config.get_hostaddrs().is_empty() { SslMode::Disable } else { mode });
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(5));
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(patience);
        }
        if config.get_application_name().is_none() {
            config.application_name("trueup");
        }
        config.keepalives_idle(patience);
        Ok(Self { config, tls: Tls::new(trust, Some(PROTOCOL)).map_err(refused)? })
    }

    /// Lets no connection write.
    pub fn only_reads(&mut self) {
        let options = self.config.get_options().unwrap_or_default().to_owned();
        self.config.options(format!("{options} -c default_transaction_read_only=on"));
    }

    /// Asks the server to give up what a client of it is waiting for.
    pub async fn cancel(&self, client: &Client) -> Result<(), Error> {
        client.cancel_token().cancel_query(self.tls.clone()).await
    }

    /// Makes a connection; it moves while its second half is polled.
    pub async fn connect(&self) -> Result<(Client, Connection<Socket, Encrypted>), Error> {
        self.config.connect(self.tls.clone()).await
    }
}

/// How libpq calls what it takes about encryption, some of which the driver does not know.
const WORDS: Words = Words {
    mode: "sslmode",
    root: "sslrootcert",
    modes: ["disable", "prefer", "require", "verify-ca", "verify-full"],
};

/// Takes what is said about encryption out of a URL.
fn asked(place: &str) -> Result<(String, Asked), UrlError> {
    // A password may contain a question mark.
    let host = place.find('@').unwrap_or(0);
    let Some(mark) = place[host..].find('?').map(|at| host + at) else {
        return Ok((place.to_owned(), Asked::default()));
    };
    let mut asked = Asked::default();
    let mut kept = Vec::new();
    for parameter in place[mark + 1..].split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        if !asked.take(&WORDS, name, value)? {
            kept.push(parameter);
        }
    }
    Ok((format!("{}?{}", &place[..mark], kept.join("&")), asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_about_encryption_is_taken_out() {
        let table = [
            ("postgres://a@h/d", "postgres://a@h/d", None, None),
            ("postgres://a@h/d?sslmode=require", "postgres://a@h/d?", Some("require"), None),
            (
                "postgres://a:b?c@h?port=1&sslrootcert=%2Fa%20b.pem&options=-cx%3D1&sslmode=verify-ca",
                "postgres://a:b?c@h?port=1&options=-cx%3D1",
                Some("verify-ca"),
                Some("/a b.pem"),
            ),
            ("postgres://h?sslmode=disable&sslmode=prefer", "postgres://h?", Some("prefer"), None),
        ];
        for (url, kept, mode, root) in table {
            let (plain, asked) = asked(url).unwrap();
            assert_eq!(plain, kept, "{url}");
            assert_eq!((asked.mode.as_deref(), asked.root.as_deref()), (mode, root), "{url}");
            assert!(plain.parse::<Config>().is_ok(), "{plain}");
        }
        assert!(asked("postgres://h?sslrootcert=%ff").is_err());
    }

    #[test]
    fn only_what_leaves_the_machine_is_encrypted() {
        let table = [
            ("postgres://h", SslMode::Prefer),
            ("postgres://h?sslmode=disable", SslMode::Disable),
            ("postgres://h?sslmode=require", SslMode::Require),
            ("postgres://%2Frun/d?sslmode=require", SslMode::Disable),
            ("postgres://%2Frun,h/d?sslmode=require", SslMode::Require),
        ];
        for (url, mode) in table {
            assert_eq!(Server::at(url, Duration::from_secs(1)).unwrap().config.get_ssl_mode(), mode, "{url}");
        }
    }
}
