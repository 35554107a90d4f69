//! Stores that several processes use, and what they say with all that changes left out.

use serde_json::{Value, json};
use trueup_events::payload::Mode;
use trueup_events::{RunId, TenantId};
use trueup_lifecycle::Policy;
use trueup_store::{Clock, JobDocument, NewRun, Options, Place as StorePlace, Role, Store};
use trueup_testkit::Postgres;

use crate::place::{Place, shown};

/// A job that compares the ledger and the bank of a place, which do not match.
pub(crate) const JOB: &str = "name: cut-over
sources:
  ledger: {file: ledger.csv}
  bank: {file: bank.csv}
key: [txn_id]
tolerances: {amount: \"0.01\"}
";

/// A place with a store.
pub(crate) struct Shared {
    pub(crate) place: Place,
    pub(crate) store: String,
}

impl Shared {
    pub(crate) fn sqlite() -> Self {
        let place = Place::with_ledger_and_bank();
        let store = format!("sqlite:{}", place.path().join("store.db").display());
        Self { place, store }
    }

    pub(crate) fn postgres() -> Self {
        Self { place: Place::with_ledger_and_bank(), store: Postgres::shared().database().unwrap() }
    }

    /// A command on the store.
    pub(crate) fn trueup(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = self.place.trueup(arguments);
        command.env("TRUEUP_STORE", &self.store);
        command
    }

    /// Exit code, standard output, standard error.
    pub(crate) fn shown(&self, arguments: &[&str]) -> String {
        shown(self.trueup(arguments).output().unwrap())
    }

    /// The JSON that a command prints.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.trueup(arguments).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", shown(output)))
    }

    /// Makes the bank a pipe that nobody writes to, so that whoever reads it waits until they are stopped.
    #[cfg(unix)]
    pub(crate) fn let_the_bank_wait(&self) {
        let bank = self.place.path().join("bank.csv");
        std::fs::remove_file(&bank).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&bank).status().unwrap().success());
    }

    /// Asks for a run of a job over the ledger and the bank, and leaves it to whoever executes runs.
    pub(crate) fn trigger(&self) -> RunId {
        let document = json!({
            "name": "cut-over",
            "sources": [
                {"name": "ledger", "file": self.place.path().join("ledger.csv")},
                {"name": "bank", "file": self.place.path().join("bank.csv")},
            ],
            "key": ["txn_id"],
        });
        self.with_store(async |store, tenant_id| {
            let (name, queue) = ("cut-over".to_owned(), "default".to_owned());
            let job = JobDocument { name: name.clone(), document, queue, policy: Policy::default() };
            store.save_job(tenant_id, job, "ann").await.unwrap();
            let new = NewRun {
                run_id: uuid::Uuid::now_v7(),
                tenant_id,
                job: name,
                params: json!({}),
                mode: Mode::Immediate,
                triggered_by: "ann".to_owned(),
            };
            store.trigger(new).await.unwrap()
        })
    }

    /// Does something that no command does.
    pub(crate) fn with_store<T>(&self, work: impl AsyncFnOnce(&Store, TenantId) -> T) -> T {
        self.with_store_at(Clock::default(), work)
    }

    /// Does something at another time.
    pub(crate) fn with_store_at<T>(&self, clock: Clock, work: impl AsyncFnOnce(&Store, TenantId) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let place: StorePlace = self.store.parse().unwrap();
            let options = Options { clock, ..Options::default() };
            let store = Store::open(&place, Role::Command, options).await.unwrap();
            let tenant_id = store.tenant("default").await.unwrap();
            let done = work(&store, tenant_id).await;
            store.close().await.unwrap();
            done
        })
    }
}

/// A text with ids, times and lengths of time left out, and columns no wider than need be.
pub(crate) fn masked(text: &str) -> String {
    let mut ids: Vec<String> = Vec::new();
    let mut masked = String::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let words: Vec<String> =
            line.split(' ').filter(|word| !word.is_empty()).map(|word| mask(word, &mut ids)).collect();
        masked.push_str(&" ".repeat(indent.min(2)));
        masked.push_str(&words.join(" "));
        masked.push('\n');
    }
    masked
}

fn mask(word: &str, ids: &mut Vec<String>) -> String {
    let core = word.trim_end_matches([',', '.', ':', ';', '`']);
    let end = &word[core.len()..];
    if is_id(core) {
        return number(core, ids) + end;
    }
    let is_time = core.len() >= 20 && core.ends_with('Z') && core.as_bytes()[10] == b'T';
    let digits = core.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let is_span = core != digits
        && !digits.is_empty()
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.' || c == 'm');
    match () {
        () if is_time => format!("TIME{end}"),
        () if is_span && ["ms", "s"].contains(&&core[digits.len()..]) => format!("SPAN{end}"),
        () => word.to_owned(),
    }
}

fn is_id(word: &str) -> bool {
    word.len() == 36 && uuid::Uuid::try_parse(word).is_ok()
}

fn number(id: &str, ids: &mut Vec<String>) -> String {
    let known = ids.iter().position(|known| known == id);
    let index = known.unwrap_or_else(|| {
        ids.push(id.to_owned());
        ids.len() - 1
    });
    format!("ID{}", index + 1)
}
