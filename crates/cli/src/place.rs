//! Which store a command works on, and where runs leave their files.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;
use trueup_events::TenantId;
use trueup_store::{Options, Place, Role, Store, StoreError};

use crate::arguments::Places;
use crate::failure::Failure;
use crate::{runtime, shell, terminal};

/// The one tenant that there is so far.
pub(crate) const TENANT: &str = "default";
/// What the default store is called in the data directory.
const STORE_FILE: &str = "trueup.db";
/// Where the files of runs are in the data directory.
const RUNS_FOLDER: &str = "runs";

/// How long opening a store takes at most before it is worth a word.
const SOON: Duration = Duration::from_secs(1);

/// A store, and the folder that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Home {
    /// The store.
    pub(crate) store: Place,
    /// The folder that each tenant has a folder in, with one for each of its runs.
    pub(crate) runs_dir: PathBuf,
}

impl Home {
    /// What was asked for, or what is there by default.
    pub(crate) fn of(places: &Places) -> Result<Self, Failure> {
        let store = match &places.store {
            Some(text) => text.parse().map_err(|error| Failure::usage(format!("--store: {error}")))?,
            None => Place::Sqlite(user_data_dir()?.join(STORE_FILE)),
        };
        let data_dir = match (&places.data_dir, &store) {
            (Some(given), _) => given.clone(),
            (None, Place::Sqlite(file)) => file.parent().map(Path::to_owned).unwrap_or_default(),
            (None, Place::Postgres(_)) => user_data_dir()?,
        };
        // Attempts are told of it, wherever they work.
        let runs_dir = std::path::absolute(data_dir.join(RUNS_FOLDER))
            .map_err(|error| Failure::usage(format!("--data-dir {}: {error}", data_dir.display())))?;
        Ok(Self { store, runs_dir })
    }

    /// Where the runs of a tenant leave their files. A tenant is one store's alone, so that no other store takes them for nobody's and deletes them.
    pub(crate) fn runs_of(&self, tenant_id: TenantId) -> PathBuf {
        self.runs_dir.join(tenant_id.to_string())
    }

    /// Opens the store and makes it if need be, with its tenant and its folder.
    pub(crate) async fn open(&self, role: Role, options: Options) -> Result<(Store, TenantId), Failure> {
        let make = |folder: &Path| {
            fs::create_dir_all(folder).map_err(|error| Failure::NoFolder { folder: folder.to_owned(), error })
        };
        if let Place::Sqlite(path) = &self.store {
            path.parent().map_or(Ok(()), make)?;
        }
        let store = open(&self.store, role, options).await?;
        // Not before: what is no store is left as it is, and nothing is put beside it.
        make(&self.runs_dir)?;
        let failed = |error| Failure::OpenStore { place: self.store.to_string(), error };
        let tenant_id = store.tenant(TENANT).await.map_err(failed)?;
        Ok((store, tenant_id))
    }
}

/// The options by which a command that is proposed finds the same store; what the environment says need not be said again.
pub(crate) fn again(places: &Places) -> String {
    let is_given = |name: &str, value: &OsStr| env::var_os(name).is_none_or(|known| known != value);
    let store = places.store.as_deref().filter(|store| is_given("TRUEUP_STORE", OsStr::new(store)));
    let data_dir = places.data_dir.as_deref().filter(|dir| is_given("TRUEUP_DATA_DIR", dir.as_os_str()));
    let options = [
        store.map(|store| format!(" --store {}", shell::word(&without_password(store)))),
        data_dir.map(|dir| format!(" --data-dir {}", shell::word(&dir.display().to_string()))),
    ];
    options.into_iter().flatten().collect()
}

/// A store as it may be shown, in full where that is possible.
fn without_password(store: &str) -> String {
    // What names no store is refused before anything is proposed.
    let Ok(place) = store.parse::<Place>() else { return String::new() };
    match (&place, store.split_once('?')) {
        (Place::Postgres(_), Some((_, parameters))) => {
            let may_be_secret = parameters.contains(['@', '%']) || parameters.to_lowercase().contains("pass");
            // What is left out has to be missed: without it this may be another store.
            format!("{place}?{}", if may_be_secret { "…" } else { parameters })
        }
        _ => place.to_string(),
    }
}

/// Opens a store that is there already, for as long as a command needs it.
pub(crate) fn visit<T>(
    places: &Places,
    work: impl AsyncFnOnce(&Store, TenantId) -> Result<T, Failure>,
) -> Result<T, Failure> {
    open_there(places, Role::Command, work)
}

/// Opens a store that is there already to look at it and no more: nothing in it is changed, and it may be one that only others may write.
pub(crate) fn look<T>(
    places: &Places,
    work: impl AsyncFnOnce(&Store, TenantId) -> Result<T, Failure>,
) -> Result<T, Failure> {
    open_there(places, Role::Reader, work)
}

fn open_there<T>(
    places: &Places,
    role: Role,
    work: impl AsyncFnOnce(&Store, TenantId) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let home = Home::of(places)?;
    // To look at a store is no reason to make one.
    if let Place::Sqlite(path) = &home.store
        && !path.exists()
    {
        let hint = match places.store {
            Some(_) => format!("check the path; `trueup serve{}` makes one", again(places)),
            None => "nothing was run yet: `trueup run JOB.YAML` makes it; --store names another".to_owned(),
        };
        return Err(Failure::usage_hint(format!("there is no store {}", path.display()), hint));
    }
    runtime::block_on(async {
        let failed = |error| Failure::OpenStore { place: home.store.to_string(), error };
        let store = open(&home.store, role, Options::default()).await?;
        let tenant_id = match role {
            Role::Reader => store.tenant_named(TENANT).await.map_err(failed)?.ok_or_else(|| {
                failed(StoreError::NoStore { problem: format!("it has no tenant named {TENANT:?}") })
            })?,
            Role::Command | Role::Server => store.tenant(TENANT).await.map_err(failed)?,
        };
        let done = work(&store, tenant_id).await;
        store.close().await?;
        done.map_err(|failure| match failure {
            Failure::Store(error @ StoreError::Damaged { .. }) => {
                Failure::DamagedStore { place: home.store.to_string(), error }
            }
            other => other,
        })
    })
}

/// Opens a store; who waits for it at a terminal is told so.
async fn open(place: &Place, role: Role, options: Options) -> Result<Store, Failure> {
    let mut opening = pin!(Store::open(place, role, options));
    let opened = if let Ok(opened) = timeout(SOON, &mut opening).await {
        opened
    } else {
        if terminal::width_of_stderr().is_some() {
            eprintln!("waiting for the store {place}");
        }
        opening.await
    };
    opened.map_err(|error| Failure::OpenStore { place: place.to_string(), error })
}

fn user_data_dir() -> Result<PathBuf, Failure> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let shared = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
    shared.map(|shared| shared.join("trueup")).ok_or_else(|| {
        Failure::usage_hint(
            "neither XDG_DATA_HOME nor HOME says where your data directory is",
            "name the store by --store, and for a store on PostgreSQL the folder for files by --data-dir",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{Places, again};

    #[test]
    fn a_store_is_named_again_without_its_password() {
        let table = [
            (None, None, ""),
            (Some("sqlite:a.db"), None, " --store sqlite:a.db"),
            (
                Some("sqlite:Ann's runs.db"),
                Some("my runs"),
                r" --store 'sqlite:Ann'\''s runs.db' --data-dir 'my runs'",
            ),
            (
                Some("postgres://ann@db/t"),
                Some("/var/runs"),
                " --store postgres://ann@db/t --data-dir /var/runs",
            ),
            (Some("postgres://ann:hunter2@db/t"), None, " --store postgres://ann@db/t"),
            (
                Some("postgres://ann:hunter2@db/t?sslmode=require&host=a"),
                None,
                " --store 'postgres://ann@db/t?sslmode=require&host=a'",
            ),
            (Some("postgres://db/t?user=ann&PassWord=hunter2"), None, " --store 'postgres://db/t?…'"),
            (Some("postgres://db/t?p%61ssword=hunter2"), None, " --store 'postgres://db/t?…'"),
            (Some("postgres://ann:hun?ter2@db/t"), None, " --store 'postgres://ann@db/t?…'"),
        ];
        for (store, data_dir, expected) in table {
            let places = Places { store: store.map(str::to_owned), data_dir: data_dir.map(Into::into) };
            assert_eq!(again(&places), expected);
        }
    }
}
