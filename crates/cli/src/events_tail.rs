//! `trueup events tail`: the log, as it is and as it grows.

use std::io::{self, Write as _};
use std::process::ExitCode;

use trueup_events::cloudevents::CloudEvent;
use trueup_events::{Event, EventType, PREFIX, RunId, TenantId};
use trueup_job::near_miss;
use trueup_store::{Store, StoreError};

use crate::arguments::Tail;
use crate::event_line::event_line;
use crate::failure::{Failure, INTERRUPTED};
use crate::interrupt::Interrupted;
use crate::{place, runs};

/// How many events are read at a time.
const PAGE: u32 = 1_000;

/// Prints the log until its end, or until it is interrupted.
pub(crate) fn tail(options: &Tail) -> Result<ExitCode, Failure> {
    let interrupted = Interrupted::catch()?;
    let types = types(&options.types)?;
    let read = async |store: &Store, tenant_id| {
        let run_id = match &options.run {
            Some(given) => Some(runs::find(store, tenant_id, given).await?.id()),
            None => None,
        };
        let reader = Reader { store, tenant_id, run_id, types, json: options.json };
        tokio::select! {
            ended = reader.read(options.from, options.follow) => ended,
            () = interrupted.wait() => Ok(ExitCode::from(INTERRUPTED)),
        }
    };
    // Only who takes part in a store hears of its changes.
    if options.follow { place::visit(&options.places, read) } else { place::look(&options.places, read) }
}

/// Types of ours are known by any of their spellings; others are taken as they are written if they could be somebody's.
fn types(given: &[String]) -> Result<Vec<String>, Failure> {
    given.iter().map(|name| one_type(name)).collect()
}

fn one_type(name: &str) -> Result<String, Failure> {
    if let Some(event_type) = EventType::parse(name) {
        return Ok(event_type.name().to_owned());
    }
    let known: Vec<&str> = EventType::ALL.iter().map(|event_type| event_type.name()).collect();
    // What comes after the first dot is what people remember.
    let is_end = |known: &&&str| known.split_once('.').is_some_and(|(_, end)| end == name);
    let near = known.iter().find(is_end).copied().or_else(|| near_miss(name, known.iter().copied()));
    let is_ours = name.starts_with("run.") || name.starts_with("execution.");
    if near.is_none() && !is_ours && name.contains('.') {
        return Ok(name.to_owned());
    }
    let hint = near
        .map_or_else(|| format!("write one of {}", known.join(", ")), |near| format!("did you mean {near}?"));
    Err(Failure::usage_hint(format!("--type {name}: there is no such type of event"), hint))
}

/// What is read, and how it is written.
struct Reader<'a> {
    store: &'a Store,
    tenant_id: TenantId,
    run_id: Option<RunId>,
    types: Vec<String>,
    json: bool,
}

impl Reader<'_> {
    async fn read(&self, from: u64, follow: bool) -> Result<ExitCode, Failure> {
        let mut changes = self.store.changes();
        let mut position = from;
        loop {
            // Before reading: what comes after is a change again.
            changes.mark_unchanged();
            let page = match self.page(position).await {
                Err(error) if follow && error.is_passing() => {
                    eprintln!("warning: {error}; waiting for it");
                    Vec::new()
                }
                page => page?,
            };
            position = page.iter().filter_map(|event| event.position).max().unwrap_or(position);
            if self.write(&page)?.is_gone() {
                return Ok(ExitCode::SUCCESS);
            }
            if page.len() == PAGE as usize {
                continue;
            }
            if !follow || changes.changed().await.is_err() {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }

    async fn page(&self, position: u64) -> Result<Vec<Event>, StoreError> {
        match self.run_id {
            Some(run_id) => self.store.events_of(self.tenant_id, run_id, position, PAGE).await,
            None => self.store.read_from(position, Some(self.tenant_id), PAGE).await,
        }
    }

    fn write(&self, events: &[Event]) -> Result<Listener, Failure> {
        let is_wanted = |event: &&Event| {
            self.types.is_empty() || self.types.iter().any(|name| name == event.name.as_str())
        };
        let text: Vec<u8> = events.iter().filter(is_wanted).flat_map(|event| self.line(event)).collect();
        let mut output = io::stdout().lock();
        match output.write_all(&text).and_then(|()| output.flush()) {
            Ok(()) => Ok(Listener::There),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Listener::Gone),
            Err(source) => Err(Failure::Report { target: "standard output".to_owned(), source }),
        }
    }

    fn line(&self, event: &Event) -> Vec<u8> {
        if !self.json {
            return event_line(event).into_bytes();
        }
        let mut line = CloudEvent::of(event, PREFIX).to_structured().body;
        line.push(b'\n');
        line
    }
}

/// Whoever reads standard output.
enum Listener {
    There,
    Gone,
}

impl Listener {
    fn is_gone(&self) -> bool {
        matches!(self, Self::Gone)
    }
}
