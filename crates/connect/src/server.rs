//! Where the server is, and how it is talked to.

use std::borrow::Cow;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config, Connection, Error, Socket};

use crate::tls::{Encrypted, Tls, Trust};

/// A URL that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UrlError(String);

/// A server that connections can be made to.
#[derive(Debug, Clone)]
pub struct Server {
    config: Config,
    tls: Tls,
}

impl Server {
    /// Reads a URL, and bounds how long the server may be silent.
    pub fn at(url: &str, patience: Duration) -> Result<Self, UrlError> {
        let (plain, asked) = Asked::take(url)?;
        let mut config: Config = plain.parse().map_err(|error: Error| {
            refused(match std::error::Error::source(&error) {
                Some(cause) => format!("{error}: {cause}"),
                None => error.to_string(),
            })
        })?;
        let (mode, trust) = asked.judge()?;
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
        Ok(Self { config, tls: Tls::new(trust).map_err(refused)? })
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

fn refused(problem: impl Into<String>) -> UrlError {
    UrlError(problem.into())
}

/// What a URL says about encryption, in the words of libpq, some of which the driver does not know.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    mode: Option<String>,
    root: Option<String>,
}

impl Asked {
    /// Takes it out of a URL.
    fn take(place: &str) -> Result<(String, Self), UrlError> {
        // A password may contain a question mark.
        let host = place.find('@').unwrap_or(0);
        let Some(mark) = place[host..].find('?').map(|at| host + at) else {
            return Ok((place.to_owned(), Self::default()));
        };
        let mut asked = Self::default();
        let mut kept = Vec::new();
        for parameter in place[mark + 1..].split('&') {
            match parameter.split_once('=') {
                Some(("sslmode", mode)) => asked.mode = Some(decoded(mode)?),
                Some(("sslrootcert", path)) => asked.root = Some(decoded(path)?),
                _ => kept.push(parameter),
            }
        }
        Ok((format!("{}?{}", &place[..mark], kept.join("&")), asked))
    }

    /// Says whether to encrypt, and whom to trust.
    fn judge(&self) -> Result<(SslMode, Trust), UrlError> {
        let roots = |root: &String| Trust::read(root.as_ref()).map_err(refused);
        let needed = |mode: &str| {
            let problem = format!("sslmode={mode}: sslrootcert has to name a file of certificates to trust");
            self.root.as_ref().ok_or_else(|| refused(problem)).and_then(roots)
        };
        match self.mode.as_deref().unwrap_or("prefer") {
            "disable" => Ok((SslMode::Disable, Trust::Anyone)),
            "prefer" => Ok((SslMode::Prefer, Trust::Anyone)),
            "require" => Ok((SslMode::Require, self.root.as_ref().map_or(Ok(Trust::Anyone), roots)?)),
            mode @ "verify-ca" => Ok((SslMode::Require, needed(mode)?)),
            mode @ "verify-full" => Ok((SslMode::Require, needed(mode)?.and_named())),
            mode => Err(refused(format!(
                "sslmode={mode}: write disable, prefer, require, verify-ca or verify-full"
            ))),
        }
    }
}

fn decoded(value: &str) -> Result<String, UrlError> {
    let decoded = percent_decode_str(value).decode_utf8().map(Cow::into_owned);
    decoded.map_err(|error| refused(format!("{value:?}: {error}")))
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
            let (plain, asked) = Asked::take(url).unwrap();
            assert_eq!(plain, kept, "{url}");
            assert_eq!((asked.mode.as_deref(), asked.root.as_deref()), (mode, root), "{url}");
            assert!(plain.parse::<Config>().is_ok(), "{plain}");
        }
        assert!(Asked::take("postgres://h?sslrootcert=%ff").is_err());
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
