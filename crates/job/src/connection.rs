//! Where sources are: databases, directories, object stores.

use std::collections::BTreeMap;

use crate::cursor::{At, Fields};
use crate::secret::Setting;
use crate::shape::{Field, Kind, Shape, optional, required};
use crate::word::{Word, words};

words! {
    /// What a connection leads to.
    pub ConnectionKind {
        /// PostgreSQL.
        Postgres = "postgres",
        /// `MySQL` or `MariaDB`.
        Mysql = "mysql",
        /// A SQLite file.
        Sqlite = "sqlite",
        /// Any database with an ODBC driver.
        Odbc = "odbc",
        /// A directory of this machine.
        File = "file",
        /// S3, or what speaks like it.
        S3 = "s3",
        /// Google Cloud Storage.
        Gs = "gs",
        /// Azure Blob Storage.
        Az = "az",
        /// Files over HTTP.
        Http = "http",
    }
}

impl ConnectionKind {
    /// Whether it takes queries.
    pub fn is_database(self) -> bool {
        matches!(self, Self::Postgres | Self::Mysql | Self::Sqlite | Self::Odbc)
    }

    /// Whether it reads paths of a scheme.
    pub(crate) fn reads(self, scheme: Option<&str>) -> bool {
        match scheme {
            None => self == Self::File,
            Some("https") => self == Self::Http,
            Some(scheme) => self.name() == scheme && self != Self::File,
        }
    }
}

/// A connection, whose settings are those of its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Connection {
    /// What it leads to.
    pub kind: ConnectionKind,
    pub(crate) settings: BTreeMap<&'static str, Setting>,
}

impl Connection {
    /// A setting, by its name in the document, if it is there.
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.get(name)
    }
}

const TYPE: Field = required("type", Kind::Word(ConnectionKind::NAMES), "What it leads to.");

const DATABASE: Shape = Shape {
    fields: &[
        TYPE,
        optional("url", Kind::Text, "Everything in one, as `${env:ERP_URL}`; instead of the fields below."),
        optional("host", Kind::Text, "The name or address of the server."),
        optional("port", Kind::Whole { least: 1, most: 65_535 }, "The port, if it is not the usual one."),
        optional("database", Kind::Text, "The name of the database."),
        optional("user", Kind::Text, "Who reads."),
        optional("password", Kind::Text, "A reference such as `${env:ERP_PASSWORD}`."),
    ],
};
const SQLITE: Shape = Shape { fields: &[TYPE, required("path", Kind::Text, "The file.")] };
const ODBC: Shape = Shape {
    fields: &[
        TYPE,
        required("connection_string", Kind::Text, "What the driver takes, its password a reference."),
    ],
};
const DIRECTORY: Shape =
    Shape { fields: &[TYPE, required("path", Kind::Text, "The directory that sources cannot leave.")] };
const S3: Shape = Shape {
    fields: &[
        TYPE,
        optional("region", Kind::Text, "The region."),
        optional("endpoint", Kind::Text, "The address of what speaks like S3."),
        optional("access_key_id", Kind::Text, "The name of the key."),
        optional("secret_access_key", Kind::Text, "A reference to the key."),
        optional("session_token", Kind::Text, "A reference to the token of a session."),
    ],
};
const GS: Shape =
    Shape { fields: &[TYPE, optional("service_account", Kind::Text, "A reference to the key, as JSON.")] };
const AZ: Shape = Shape {
    fields: &[
        TYPE,
        optional("account", Kind::Text, "The storage account."),
        optional("access_key", Kind::Text, "A reference to its key."),
        optional("sas_token", Kind::Text, "A reference to a shared access signature."),
    ],
};
const HTTP: Shape = Shape {
    fields: &[
        TYPE,
        optional("user", Kind::Text, "Who reads."),
        optional("password", Kind::Text, "A reference to the password."),
        optional("token", Kind::Text, "A reference to a bearer token."),
    ],
};

/// Settings, and what connection strings and URLs call them, that can only be references.
const SECRET: [&str; 10] = [
    "password",
    "secret_access_key",
    "session_token",
    "service_account",
    "access_key",
    "sas_token",
    "token",
    "pwd",
    "sig",
    "signature",
];

pub(crate) const CONNECTION: Kind = Kind::Tagged(&[
    ("postgres", &DATABASE),
    ("mysql", &DATABASE),
    ("sqlite", &SQLITE),
    ("odbc", &ODBC),
    ("file", &DIRECTORY),
    ("s3", &S3),
    ("gs", &GS),
    ("az", &AZ),
    ("http", &HTTP),
]);

fn shape_of(kind: ConnectionKind) -> &'static Shape {
    match kind {
        ConnectionKind::Postgres | ConnectionKind::Mysql => &DATABASE,
        ConnectionKind::Sqlite => &SQLITE,
        ConnectionKind::Odbc => &ODBC,
        ConnectionKind::File => &DIRECTORY,
        ConnectionKind::S3 => &S3,
        ConnectionKind::Gs => &GS,
        ConnectionKind::Az => &AZ,
        ConnectionKind::Http => &HTTP,
    }
}

/// Reads one connection.
pub(crate) fn read(at: &At<'_>) -> Option<Connection> {
    at.entries()?;
    let Some(kind) = at.member("type") else {
        let hint = format!("expected one of {}", ConnectionKind::NAMES.join(", "));
        at.fault_name("`type` is missing", hint);
        return None;
    };
    // Which fields belong to it is known only with the type.
    let kind = kind.word()?;
    let shape = shape_of(kind);
    let fields = at.fields(shape)?;
    let mut settings = BTreeMap::new();
    let mut is_complete = true;
    for field in shape.fields.iter().skip(1) {
        let Some(at) = fields.get(field.name) else { continue };
        match setting(field, &at) {
            Some(setting) => {
                settings.insert(field.name, setting);
            }
            None => is_complete = false,
        }
    }
    check_address(kind, &fields);
    is_complete.then_some(Connection { kind, settings })
}

/// The kind of a connection, also of one with faults.
pub(crate) fn kind_of(at: &At<'_>) -> Option<ConnectionKind> {
    ConnectionKind::named(at.node.get("type")?.text()?)
}

fn setting(field: &Field, at: &At<'_>) -> Option<Setting> {
    let text = match field.kind {
        Kind::Whole { least, most } => at.whole(least..=most)?.to_string(),
        // What `text` would quote in its message could be a password.
        _ if SECRET.contains(&field.name) => at.scalar("a reference")?,
        _ => at.text()?,
    };
    let setting = Setting::parse(&text).map_err(|error| at.fault(error.to_string(), None)).ok()?;
    let hint = || Some(format!("write ${{env:NAME}} or ${{file:PATH}} for the {}", field.name));
    if SECRET.contains(&field.name) && !setting.is_reference() {
        at.fault("a credential is not written into a job", hint());
        return None;
    }
    if holds_password(&setting.written_out()) {
        at.fault(
            "a password is written out here",
            Some("write ${env:NAME} or ${file:PATH} in its place".to_owned()),
        );
        return None;
    }
    Some(setting)
}

/// Whether a URL or a connection string has a password in it that is no reference.
pub(crate) fn holds_password(text: &str) -> bool {
    let in_url = text.split_once("://").and_then(|(_, behind)| {
        let authority = behind.split(['/', '?', '#']).next().unwrap_or_default();
        let (login, _) = authority.rsplit_once('@')?;
        login.split_once(':').map(|(_, password)| password)
    });
    let is_written_out = |value: &str| !value.trim().is_empty() && value.contains(|c| c != '\0');
    let in_pairs =
        text.split(['?', '&', ';']).filter_map(|pair| pair.split_once('=')).any(|(name, value)| {
            let name = name.trim().to_lowercase();
            let is_secret = SECRET.iter().any(|secret| name.ends_with(secret)) || name.contains("secret");
            is_secret && is_written_out(value)
        });
    in_url.is_some_and(is_written_out) || in_pairs
}

/// A database is reached by its URL or by its parts.
fn check_address(kind: ConnectionKind, fields: &Fields<'_>) {
    if !matches!(kind, ConnectionKind::Postgres | ConnectionKind::Mysql) {
        return;
    }
    let (url, host) = (fields.get("url"), fields.get("host"));
    let parts = DATABASE.fields.iter().skip(2).filter_map(|field| fields.get(field.name));
    match (url, host) {
        (None, None) => fields.at.fault_name("`url` or `host` is missing", None),
        (Some(_), _) => {
            parts.for_each(|at| at.fault_name("`url` already says this; leave out one of them", None));
        }
        (None, Some(_)) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::holds_password;

    #[test]
    fn passwords_that_are_written_out() {
        let table = [
            ("postgres://reader:hunter2@host/db", true),
            ("postgres://reader:\0@host/db", false),
            ("postgres://reader@host:5432/db", false),
            ("postgres://host/db?sslmode=require&password=x", true),
            ("postgres://host/db?password=\0", false),
            ("Driver={X};UID=a;PWD=hunter2", true),
            ("Driver={X};UID=a;Pwd=\0;", false),
            ("\0", false),
            ("/var/data/x.db", false),
        ];
        for (text, expected) in table {
            assert_eq!(holds_password(text), expected, "{text}");
        }
    }
}
