//! Objects of a store, which are fetched to the disk and read from there as files are.

mod access;
mod choice;
mod refusal;
mod transport;

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path;
use object_store::{GetOptions, ObjectMeta, ObjectStore};
use tokio::time::timeout;

use crate::Options;
use crate::error::{Error, Refused};
use crate::input::{Input, write_at};
use crate::reach::unless_stopped;
use crate::table::Table;

pub use access::{Access, Scheme};

/// How long a store may send nothing in the middle of an object.
const SILENCE: Duration = Duration::from_secs(30);

/// How many objects are fetched at once.
const AT_ONCE: usize = 4;

/// One object, all below a prefix, or what a glob matches.
#[derive(Clone, Copy)]
pub struct Objects<'a> {
    /// Where they are: `s3://bucket/2026/*.csv.gz`.
    pub url: &'a str,
    /// How the store is reached, and who reads it.
    pub access: &'a Access,
    /// Whether rows are read, or only the columns are wanted, which the first object has.
    pub has_rows: bool,
    /// Is asked several times a second whether to give up.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
    /// Is told how many bytes came, and how many there are.
    pub tell: &'a (dyn Fn(u64, u64) + Sync),
}

/// What is known of an object before it is fetched.
struct Wanted {
    location: Path,
    /// What it was when it was listed, and how many bytes it had.
    listed: Option<(Option<String>, u64)>,
    /// Where it is kept in the file of all.
    start: u64,
}

/// Where all objects are kept, for there may be more of them than files can be open, and how much has come.
struct Kept {
    file: Arc<File>,
    came: Cell<u64>,
    expected: Cell<u64>,
}

impl Kept {
    fn new(options: &Options) -> io::Result<Self> {
        let file = Arc::new(tempfile::tempfile_in(&options.temp_dir)?);
        Ok(Self { file, came: Cell::new(0), expected: Cell::new(0) })
    }
}

impl Objects<'_> {
    /// Fetches the objects and opens them as one table.
    ///
    /// # Errors
    /// When the store cannot be reached or refuses, when nothing is there, and as [`open`](crate::open).
    pub fn open(&self, options: &Options) -> Result<Table, Error> {
        self.access.scheme().check(self.url).map_err(|problem| self.refused(Refused::Url, problem))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| self.refused(Refused::Connection, error.to_string()))?;
        let fetched = runtime.block_on(unless_stopped(self.is_stopped, self.fetch_all(options)));
        // Somebody who looks up a name may take longer than anybody waits for.
        runtime.shutdown_background();
        Table::new(&self.shown(), fetched??, options)
    }

    async fn fetch_all(&self, options: &Options) -> Result<Vec<Input>, Error> {
        let (store, key) =
            self.access.store(self.url).map_err(|problem| self.refused(Refused::Url, problem))?;
        let store = store.as_ref();
        let is_web = self.access.scheme() == Scheme::Http;
        let is_one = !choice::is_pattern(&key) && !key.is_empty() && !key.ends_with('/');
        if !is_web && !is_one {
            return self.fetch_listed(store, &key, options, None).await;
        }
        let location = Path::parse(&key).map_err(|error| self.unfit(&error.into()))?;
        let wanted = Wanted { location, listed: None, start: 0 };
        let kept = Kept::new(options).map_err(|source| self.unkept(options, source))?;
        match self.fetch(store, &wanted, options, &kept).await {
            Err(Error::Store { kind: Refused::Missing, problem, .. }) if !is_web => {
                self.fetch_listed(store, &key, options, Some(problem)).await
            }
            fetched => Ok(vec![fetched?]),
        }
    }

    /// Fetches what a listing has for a prefix or a pattern; `missing` is what the store says of an object of that name.
    async fn fetch_listed(
        &self,
        store: &dyn ObjectStore,
        key: &str,
        options: &Options,
        missing: Option<String>,
    ) -> Result<Vec<Input>, Error> {
        let prefix = Path::parse(choice::prefix(key)).map_err(|error| self.unfit(&error.into()))?;
        let listed: Vec<ObjectMeta> =
            store.list(Some(&prefix)).try_collect().await.map_err(|error| self.unfit(&error))?;
        let is_there = !listed.is_empty();
        let mut chosen = choice::of(key, listed, options.format.is_some())
            .map_err(|source| Error::Pattern { path: self.shown(), source })?;
        if !self.has_rows {
            chosen.truncate(1);
        }
        if chosen.is_empty() {
            return Err(match missing {
                _ if choice::is_pattern(key) => Error::NoMatch { path: self.shown() },
                Some(problem) if !is_there => {
                    let near = self.near(store, key).await;
                    self.refused(Refused::Missing, problem + &near)
                }
                _ => Error::NoData { path: self.shown() },
            });
        }
        let kept = Kept::new(options).map_err(|source| self.unkept(options, source))?;
        let wanted = chosen.into_iter().map(|ObjectMeta { location, e_tag, size, .. }| {
            let start = kept.expected.replace(kept.expected.get() + size);
            Wanted { location, listed: Some((e_tag, size)), start }
        });
        let wanted: Vec<Wanted> = wanted.collect();
        let fetches = wanted.iter().map(|wanted| self.fetch(store, wanted, options, &kept));
        stream::iter(fetches).buffered(AT_ONCE).try_collect().await
    }

    async fn fetch(
        &self,
        store: &dyn ObjectStore,
        wanted: &Wanted,
        options: &Options,
        kept: &Kept,
    ) -> Result<Input, Error> {
        let name = self.name_of(&wanted.location);
        let refused = |error: &object_store::Error| refusal::of(&name, self.access, error);
        let if_match = wanted.listed.as_ref().and_then(|(e_tag, _)| e_tag.clone());
        let unchanged = GetOptions { if_match, ..GetOptions::default() };
        let answer = store.get_opts(&wanted.location, unchanged).await.map_err(|error| refused(&error))?;
        let bytes = answer.meta.size;
        match wanted.listed {
            None => kept.expected.set(bytes),
            Some((_, listed)) if listed == bytes => {}
            Some(_) => return Err(Error::Changed { path: name }),
        }
        let mut came = 0;
        let mut blocks = answer.into_stream();
        while let Some(block) =
            timeout(SILENCE, blocks.next()).await.map_err(|_| self.cut(&name, came, bytes))?
        {
            let block = block.map_err(|error| refused(&error))?;
            let at = wanted.start + came;
            came += block.len() as u64;
            if came > bytes {
                break;
            }
            write_at(&kept.file, &block, at).map_err(|source| self.unkept(options, source))?;
            kept.came.update(|bytes| bytes + block.len() as u64);
            (self.tell)(kept.came.get(), kept.expected.get());
        }
        if came != bytes {
            return Err(self.cut(&name, came, bytes));
        }
        Ok(Input::fetched(&name, &kept.file, wanted.start, bytes))
    }

    /// Names beside a missing object that differ from its own by little; what cannot be listed has no hints to offer.
    async fn near(&self, store: &dyn ObjectStore, key: &str) -> String {
        let (folder, name) = key.rsplit_once('/').unwrap_or(("", key));
        let Ok(beside) = store.list_with_delimiter(Some(&Path::from(folder))).await else {
            return String::new();
        };
        let names = beside.objects.iter().filter_map(|object| object.location.filename());
        match crate::find::alike(name, names.map(str::to_owned)).as_slice() {
            [] => String::new(),
            near => format!("; did you mean {}?", near.join(" or ")),
        }
    }

    /// The object as errors and reports call it.
    fn name_of(&self, location: &Path) -> String {
        let shown = self.shown();
        if self.access.scheme() == Scheme::Http {
            return shown;
        }
        let bucket: Vec<&str> = shown.splitn(4, '/').take(3).collect();
        format!("{}/{location}", bucket.join("/"))
    }

    fn shown(&self) -> String {
        self.access.scheme().shown(self.url)
    }

    fn cut(&self, name: &str, came: u64, bytes: u64) -> Error {
        let problem = format!("the store sent {came} of {bytes} bytes");
        Error::Store {
            path: name.to_owned(),
            scheme: self.access.scheme(),
            kind: Refused::Connection,
            problem,
        }
    }

    fn refused(&self, kind: Refused, problem: String) -> Error {
        Error::Store { path: self.shown(), scheme: self.access.scheme(), kind, problem }
    }

    fn unkept(&self, options: &Options, source: io::Error) -> Error {
        Error::Spool { path: self.shown(), directory: options.temp_dir.display().to_string(), source }
    }

    fn unfit(&self, error: &object_store::Error) -> Error {
        refusal::of(&self.shown(), self.access, error)
    }
}
