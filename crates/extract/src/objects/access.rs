//! How a store is reached, and who reads it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderValue;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};
use percent_encoding::percent_decode_str;

use super::choice::is_pattern;
use super::refusal::words;
use super::transport::Transport;

/// How often a request is tried again, and for how long at most.
const RETRIES: usize = 3;
const RETRY_FOR: Duration = Duration::from_mins(1);

/// The kinds of store, by the schemes of their URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// S3, or what speaks like it.
    S3,
    /// Google Cloud Storage.
    Gs,
    /// Azure Blob Storage.
    Az,
    /// Files over HTTP, encrypted or not.
    Http,
}

/// Something that a store can be told; a name that it lacks is empty.
struct Setting {
    /// Its name in the environment.
    variable: &'static str,
    /// Its name in a job.
    field: &'static str,
    /// Whether it says who reads.
    is_credential: bool,
}

const fn place(variable: &'static str, field: &'static str) -> Setting {
    Setting { variable, field, is_credential: false }
}

const fn credential(variable: &'static str, field: &'static str) -> Setting {
    Setting { variable, field, is_credential: true }
}

impl Setting {
    fn name(&self) -> &'static str {
        if self.variable.is_empty() { self.field } else { self.variable }
    }
}

const S3: &[Setting] = &[
    place("AWS_REGION", "region"),
    place("AWS_DEFAULT_REGION", ""),
    place("AWS_ENDPOINT_URL", "endpoint"),
    place("AWS_ENDPOINT_URL_S3", ""),
    credential("AWS_ACCESS_KEY_ID", "access_key_id"),
    credential("AWS_SECRET_ACCESS_KEY", "secret_access_key"),
    credential("AWS_SESSION_TOKEN", "session_token"),
    credential("AWS_SKIP_SIGNATURE", ""),
    credential("AWS_ROLE_ARN", ""),
    credential("AWS_ROLE_SESSION_NAME", ""),
    credential("AWS_WEB_IDENTITY_TOKEN_FILE", ""),
    credential("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", ""),
    credential("AWS_CONTAINER_CREDENTIALS_FULL_URI", ""),
    credential("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", ""),
];
const GS: &[Setting] = &[
    place("GOOGLE_BASE_URL", ""),
    credential("GOOGLE_SERVICE_ACCOUNT_KEY", "service_account"),
    credential("GOOGLE_SERVICE_ACCOUNT", ""),
    credential("GOOGLE_APPLICATION_CREDENTIALS", ""),
    credential("GOOGLE_SKIP_SIGNATURE", ""),
];
const AZ: &[Setting] = &[
    place("AZURE_STORAGE_ACCOUNT_NAME", "account"),
    place("AZURE_STORAGE_ENDPOINT", ""),
    credential("AZURE_STORAGE_ACCOUNT_KEY", "access_key"),
    credential("AZURE_STORAGE_SAS_TOKEN", "sas_token"),
    credential("AZURE_SKIP_SIGNATURE", ""),
    credential("AZURE_CLIENT_ID", ""),
    credential("AZURE_CLIENT_SECRET", ""),
    credential("AZURE_TENANT_ID", ""),
    credential("AZURE_FEDERATED_TOKEN_FILE", ""),
];
const HTTP: &[Setting] = &[credential("", "user"), credential("", "password"), credential("", "token")];

impl Scheme {
    /// The kind of store that a URL leads to; none for a path of this machine.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        match path.split_once("://")?.0 {
            "s3" => Some(Self::S3),
            "gs" => Some(Self::Gs),
            "az" => Some(Self::Az),
            "http" | "https" => Some(Self::Http),
            _ => None,
        }
    }

    /// Refuses URLs that nothing can be fetched from.
    ///
    /// # Errors
    /// With what is wrong with it.
    pub fn check(self, url: &str) -> Result<(), String> {
        let behind = url.split_once("://").map_or("", |(_, behind)| behind);
        if behind.split('/').next().is_none_or(str::is_empty) {
            return Err("there is no bucket or host in it".to_owned());
        }
        // The question mark of a web address begins its query.
        if self == Self::Http && is_pattern(behind.split(['?', '#']).next().unwrap_or_default()) {
            return Err(
                "a web server does not list its files, so that wildcards cannot be matched; name the file"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// A URL without what may be a secret in it: a login, or the query of a web address.
    #[must_use]
    pub fn shown(self, url: &str) -> String {
        let Some((scheme, behind)) = url.split_once("://").filter(|_| self == Self::Http) else {
            return url.to_owned();
        };
        let place = behind.split(['?', '#']).next().unwrap_or_default();
        let (host, path) =
            place.split_once('/').map_or((place, String::new()), |(host, path)| (host, format!("/{path}")));
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        format!("{scheme}://{host}{path}")
    }

    /// The variables of the environment that say who reads, for people.
    #[must_use]
    pub fn credentials(self) -> &'static str {
        match self {
            Self::S3 => {
                "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and, if it is not Amazon's, AWS_ENDPOINT_URL"
            }
            Self::Gs => "GOOGLE_SERVICE_ACCOUNT_KEY or GOOGLE_APPLICATION_CREDENTIALS",
            Self::Az => "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN",
            Self::Http => "",
        }
    }

    fn settings(self) -> &'static [Setting] {
        match self {
            Self::S3 => S3,
            Self::Gs => GS,
            Self::Az => AZ,
            Self::Http => HTTP,
        }
    }
}

/// What a store is told, with the credentials, which are never shown.
pub struct Access {
    scheme: Scheme,
    values: Vec<(&'static Setting, String)>,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

impl Access {
    /// What the environment says.
    #[must_use]
    pub fn of_environment(scheme: Scheme, variable: impl Fn(&str) -> Option<String>) -> Self {
        let found = |setting: &'static Setting| {
            let value = variable(setting.variable).filter(|value| !value.is_empty())?;
            Some((setting, value))
        };
        let named = scheme.settings().iter().filter(|setting| !setting.variable.is_empty());
        Self { scheme, values: named.filter_map(found).collect() }
    }

    /// What is said by the names that jobs have for it; if that does not say who reads, the environment does.
    ///
    /// # Errors
    /// Whatever keeps a setting from being known.
    pub fn of_connection<E>(
        scheme: Scheme,
        field: impl Fn(&str) -> Result<Option<String>, E>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, E> {
        let mut values = Vec::new();
        for setting in scheme.settings().iter().filter(|setting| !setting.field.is_empty()) {
            values.extend(field(setting.field)?.map(|value| (setting, value)));
        }
        if !values.iter().any(|(setting, _)| setting.is_credential) {
            let found = Self::of_environment(scheme, variable).values;
            values.extend(found.into_iter().filter(|(setting, _)| setting.is_credential));
        }
        Ok(Self { scheme, values })
    }

    /// What kind of store it is for.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// A text without any of the values that may be secret.
    pub(super) fn masked(&self, text: &str) -> String {
        let secrets = self.values.iter().filter(|(setting, value)| setting.is_credential && value.len() > 3);
        secrets.fold(text.to_owned(), |text, (_, secret)| text.replace(secret, "…"))
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(setting, _)| setting.name() == name).map(|(_, value)| value.as_str())
    }

    /// The store that a URL leads to, and the key or pattern below it; for the web, the URL is all of it.
    pub(super) fn store(&self, url: &str) -> Result<(Arc<dyn ObjectStore>, String), String> {
        let built = if self.scheme == Scheme::Http {
            self.web(url).map(|store| (store, String::new()))
        } else {
            let behind = url.split_once("://").map_or("", |(_, behind)| behind);
            let (bucket, key) = behind.split_once('/').unwrap_or((behind, ""));
            self.bucket(bucket).map(|store| (store, key.to_owned()))
        };
        built.map_err(|error| self.masked(&words(&error)))
    }

    fn bucket(&self, bucket: &str) -> object_store::Result<Arc<dyn ObjectStore>> {
        let named = self.values.iter().map(|(setting, value)| (setting.variable.to_ascii_lowercase(), value));
        let is_plain = self.values.iter().any(|(_, value)| value.starts_with("http://"));
        match self.scheme {
            Scheme::S3 => {
                let mut builder = AmazonS3Builder::new().with_retry(retries()).with_allow_http(is_plain);
                for (name, value) in named {
                    builder = builder.with_config(name.parse()?, value);
                }
                let builder = builder.with_bucket_name(bucket).with_http_connector(Transport::default());
                Ok(Arc::new(builder.build()?))
            }
            Scheme::Gs => {
                let mut builder = GoogleCloudStorageBuilder::new().with_retry(retries());
                for (name, value) in named {
                    builder = builder.with_config(name.parse()?, value);
                }
                let builder = builder.with_bucket_name(bucket).with_http_connector(Transport::default());
                Ok(Arc::new(builder.build()?))
            }
            Scheme::Az | Scheme::Http => {
                let mut builder =
                    MicrosoftAzureBuilder::new().with_retry(retries()).with_allow_http(is_plain);
                for (name, value) in named {
                    builder = builder.with_config(name.parse()?, value);
                }
                let builder = builder.with_container_name(bucket).with_http_connector(Transport::default());
                Ok(Arc::new(builder.build()?))
            }
        }
    }

    fn web(&self, url: &str) -> object_store::Result<Arc<dyn ObjectStore>> {
        let (scheme, behind) = url.split_once("://").unwrap_or(("", url));
        let (authority, path) = behind.split_at(behind.find(['/', '?', '#']).unwrap_or(behind.len()));
        let (login, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let authorization = self.authorization(login).map(|text| {
            HeaderValue::try_from(text).map(|mut header| {
                header.set_sensitive(true);
                header
            })
        });
        let authorization = authorization
            .transpose()
            .map_err(|error| object_store::Error::Generic { store: "HTTP", source: Box::new(error) })?;
        let builder = HttpBuilder::new().with_url(format!("{scheme}://{host}{path}")).with_retry(retries());
        Ok(Arc::new(builder.with_http_connector(Transport::for_web(authorization)).build()?))
    }

    /// Who reads from a web server, as it is told: a token, or a name and a password, also those of a URL.
    fn authorization(&self, login: &str) -> Option<String> {
        if let Some(token) = self.value("token") {
            return Some(format!("Bearer {token}"));
        }
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let user = self.value("user").map_or_else(|| decoded(user), str::to_owned);
        let password = self.value("password").map_or_else(|| decoded(password), str::to_owned);
        (!user.is_empty()).then(|| format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))))
    }
}

fn retries() -> RetryConfig {
    RetryConfig { backoff: BackoffConfig::default(), max_retries: RETRIES, retry_timeout: RETRY_FOR }
}

#[cfg(test)]
mod tests {
    use super::{Access, Scheme};

    #[test]
    fn what_may_be_a_secret_is_not_shown() {
        let table = [
            ("s3://b/a?c.csv", "s3://b/a?c.csv"),
            ("https://user:hunter2@h:1/a.csv?sig=x#y", "https://h:1/a.csv"),
            ("https://h?token=x", "https://h"),
        ];
        for (url, expected) in table {
            assert_eq!(Scheme::of(url).unwrap().shown(url), expected);
        }
        let given = |field: &str| Ok::<_, ()>((field == "password").then(|| "hunter2".to_owned()));
        let access = Access::of_connection(Scheme::Http, given, |_| None).unwrap();
        assert_eq!(access.masked("wrong: hunter2"), "wrong: …");
        assert_eq!(format!("{access:?}"), "Access { scheme: Http, .. }");
    }

    #[test]
    fn keys_come_from_one_place() {
        let variable = |name: &str| Some(format!("{name} of the environment"));
        let of = |fields: &[&str]| {
            let setting =
                |field: &str| Ok::<_, ()>(fields.contains(&field).then(|| format!("given {field}")));
            let access = Access::of_connection(Scheme::S3, setting, variable).unwrap();
            ["AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN"]
                .map(|name| access.value(name).unwrap_or("none").to_owned())
        };
        assert_eq!(
            of(&["region"]),
            ["given region", "AWS_ACCESS_KEY_ID of the environment", "AWS_SESSION_TOKEN of the environment"]
        );
        assert_eq!(of(&["access_key_id"]), ["none", "given access_key_id", "none"]);
    }

    #[test]
    fn addresses_that_nothing_can_be_fetched_from() {
        for url in ["s3://", "https:///a.csv", "https://h/*.csv", "http://h/[ab].csv"] {
            assert!(Scheme::of(url).unwrap().check(url).is_err(), "{url}");
        }
        for url in ["s3://b", "s3://b/*.csv", "https://h/a.csv?x=*"] {
            assert_eq!(Scheme::of(url).unwrap().check(url), Ok(()), "{url}");
        }
        assert_eq!(Scheme::of("ftp://h/a.csv"), None);
        assert_eq!(Scheme::of("a.csv"), None);
    }
}
