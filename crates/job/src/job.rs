//! A job as a whole.

mod consistency;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use chrono_tz::Tz;

use crate::arguments::{ArgumentError, Arguments, Moment};
use crate::connection::{self, CONNECTION, Connection};
use crate::context::Context;
use crate::cursor::{At, Fields, Findings};
use crate::duration::parse_limit;
use crate::fault::Faults;
use crate::follow_up::{self, FOLLOW_UP, FollowUp};
use crate::measure::{self, MEASURE, Measure};
use crate::memory::Memory;
use crate::name;
use crate::notify::{self, NOTIFY, Notify};
use crate::param::{self, PARAM, Param};
use crate::schedule::{self, SCHEDULE, Schedule};
use crate::shape::{Kind, Shape, TEXTS, optional, required};
use crate::source::{self, SOURCE, Source};
use crate::stage::{self, STAGE, Stage, Strategy, StrategyKind};
use crate::tolerance::TOLERANCES;
use crate::word::words;
use crate::yaml;

words! {
    /// How two tables are compared.
    pub Method {
        /// Every row is read.
        Full = "full",
        /// Ranges of the key whose checksums agree are not read.
        Checksum = "checksum",
    }
}

words! {
    /// What to do with keys that repeat within a source.
    pub Duplicates {
        /// Aggregate them.
        Aggregate = "aggregate",
        /// Pair equal rows, then the rest with the fewest differences.
        Multiset = "multiset",
        /// End the run with an error.
        Error = "error",
    }
}

pub(crate) const DEADLINE_DEFAULT: Duration = Duration::from_hours(1);
pub(crate) const QUEUE_DEFAULT: &str = "default";
const RETRIES_MAX: u64 = 100;
const THREADS_MAX: u64 = 1024;

/// Sources by name or, which keeps their order wherever it is stored, as a list.
const SOURCES: Kind = Kind::Either(&[
    Kind::Map { of: &Kind::Object(&SOURCE), least: 2 },
    Kind::List { of: &Kind::Object(&SOURCE), least: 2 },
]);

pub(crate) const JOB: Shape = Shape {
    fields: &[
        required("name", Kind::Text, "Its name: letters, digits, -, _ and `.`."),
        optional("description", Kind::Text, "What it is for."),
        optional(
            "params",
            Kind::Map { of: &Kind::Object(&PARAM), least: 0 },
            "What a run can be given, by name.",
        ),
        optional("connections", Kind::Map { of: &CONNECTION, least: 0 }, "Databases and stores, by name."),
        required("sources", SOURCES, "What is compared: two or more."),
        optional("dimensions", TEXTS, "What rows are grouped by."),
        optional("key", TEXTS, "The dimensions of a job without stages."),
        optional(
            "measures",
            Kind::List { of: &Kind::Object(&MEASURE), least: 0 },
            "What is compared of each group; without them, rows one by one.",
        ),
        optional(
            "stages",
            Kind::List { of: &Kind::Object(&STAGE), least: 1 },
            "Comparisons from coarse to fine; one unless said.",
        ),
        optional("tolerances", TOLERANCES, "How far values may be apart, in a job without stages."),
        optional("strategy", Kind::Word(StrategyKind::NAMES), "How the stages are run; ALL unless said."),
        optional(
            "max_stage_concurrency",
            Kind::Whole { least: 1, most: 1000 },
            "How many stages run at once, with PARALLEL.",
        ),
        optional("only", TEXTS, "Row by row: the columns to compare; all unless said."),
        optional("ignore", TEXTS, "Row by row: the columns to leave out."),
        optional("compare", Kind::Word(Method::NAMES), "Whether every row is read; `full` unless said."),
        optional("duplicates", Kind::Word(Duplicates::NAMES), "What to do with keys that repeat."),
        optional("reference", Kind::Text, "The source that the others are held against."),
        optional("schedule", Kind::Object(&SCHEDULE), "When it runs by itself."),
        optional("queue", Kind::Text, "The queue that its runs wait in; `default` unless said."),
        optional("deadline", Kind::Text, "How long a run may take; `1h` unless said."),
        optional(
            "retries",
            Kind::Whole { least: 0, most: RETRIES_MAX },
            "How often a run that died is tried again; 0 unless said.",
        ),
        optional("notify", Kind::Object(&NOTIFY), "Who is told how a run ended."),
        optional("then", Kind::List { of: &Kind::Object(&FOLLOW_UP), least: 0 }, "What runs after it."),
        optional(
            "memory",
            Kind::Text,
            "How much memory a run may use: `2GB`, `512MiB`, or a share such as `60%`.",
        ),
        optional("threads", Kind::Whole { least: 1, most: THREADS_MAX }, "How many threads a run may use."),
    ],
};

/// A job that was checked: what it names exists in it, and what can be wrong without seeing data is right.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Job {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What a run can be given.
    pub params: BTreeMap<String, Param>,
    /// The connections that it defines; a source may name one of the server's instead.
    pub connections: BTreeMap<String, Connection>,
    /// What is compared, two or more, in order.
    pub sources: Vec<Source>,
    /// What rows are grouped by.
    pub dimensions: Vec<String>,
    /// What is compared of each group; empty means row by row.
    pub measures: Vec<Measure>,
    /// Its comparisons, one or more.
    pub stages: Vec<Stage>,
    /// How the stages are run.
    pub strategy: Strategy,
    /// Row by row: only these columns; empty means all.
    pub only: Vec<String>,
    /// Row by row: all columns but these.
    pub ignore: Vec<String>,
    /// Whether every row is read.
    pub compare: Method,
    /// What to do with keys that repeat; by default as comparing does.
    pub duplicates: Option<Duplicates>,
    /// The source that the others are held against.
    pub reference: Option<String>,
    /// When it runs by itself.
    pub schedule: Option<Schedule>,
    /// The queue that its runs wait in.
    pub queue: String,
    /// How long a run may take, in whole seconds.
    pub deadline: Duration,
    /// How often a run that died is tried again.
    pub retries: u32,
    /// Who is told how a run ended.
    pub notify: Option<Notify>,
    /// What runs after it.
    pub then: Vec<FollowUp>,
    /// How much memory a run may use.
    pub memory: Option<Memory>,
    /// How many threads a run may use.
    pub threads: Option<NonZeroUsize>,
}

impl Job {
    /// Reads a job from YAML or JSON, and finds all that is wrong with it.
    ///
    /// `elsewhere` names the connections that a server has besides; without it any name is taken.
    pub fn parse(bytes: &[u8], elsewhere: Option<&[&str]>) -> Result<Self, Faults> {
        let tree = yaml::read(bytes).map_err(Faults::new)?;
        let findings = Findings::new(tree.text, tree.faults);
        let job = At::root(&tree.root, &findings).fields(&JOB).and_then(|fields| read(&fields, elsewhere));
        let faults = findings.into_faults();
        match job {
            Some(job) if faults.is_empty() => Ok(job),
            _ => {
                debug_assert!(!faults.is_empty(), "nothing is left out without a fault");
                Err(Faults::new(faults))
            }
        }
    }

    /// The values of a run for its parameters: what is given, as text or JSON, and defaults for the rest.
    pub fn arguments(
        &self,
        given: &BTreeMap<String, serde_json::Value>,
        moment: Moment,
    ) -> Result<Arguments, Vec<ArgumentError>> {
        Arguments::new(&self.params, given, moment)
    }

    /// The zone that says which day `today` is: its schedule's, or UTC.
    pub fn timezone(&self) -> Tz {
        self.schedule.as_ref().map_or(Tz::UTC, |schedule| schedule.timezone)
    }
}

fn read(fields: &Fields<'_>, elsewhere: Option<&[&str]>) -> Option<Job> {
    let context = Context::new(fields, elsewhere);
    let name = fields.get("name").and_then(|at| name::read(&at));
    let params = fields.maybe("params", |at| at.by_name(param::read));
    let connections = fields.maybe("connections", |at| at.by_name(|_, at| connection::read(at)));
    let sources = fields.get("sources").and_then(|at| read_sources(&at, &context));
    let dimensions = read_dimensions(fields);
    let measures = fields.maybe("measures", measure::read_all);
    let stages = stage::read_all(fields, dimensions.as_deref().unwrap_or_default(), &context);
    let strategy = stage::read_strategy(fields, stages.as_deref());
    let then = fields.maybe("then", |at| follow_up::read_all(at, name.as_deref(), &context));
    let settings = read_settings(fields, &context);
    consistency::check(fields, &context);
    let settings = settings?;
    Some(Job {
        name: name?,
        params: params?.unwrap_or_default(),
        connections: connections?.unwrap_or_default(),
        sources: sources?,
        dimensions: dimensions?,
        measures: measures?.unwrap_or_default(),
        stages: stages?,
        strategy: strategy?,
        then: then?.unwrap_or_default(),
        ..settings
    })
}

/// Reads the fields that refer to nothing but sources, into a job that is otherwise empty.
fn read_settings(fields: &Fields<'_>, context: &Context<'_>) -> Option<Job> {
    let description = fields.maybe("description", At::text);
    let only = fields.maybe("only", At::texts);
    let ignore = fields.maybe("ignore", At::texts);
    let compare = fields.maybe("compare", At::word);
    let duplicates = fields.maybe("duplicates", At::word);
    let reference = fields.maybe("reference", |at| context.source(at));
    let schedule = fields.maybe("schedule", schedule::read);
    let queue = fields.maybe("queue", name::read);
    let deadline = fields.maybe("deadline", |at| at.parsed(parse_limit));
    let retries = fields.maybe("retries", |at| at.whole(0..=RETRIES_MAX));
    let notify = fields.maybe("notify", notify::read);
    let memory = fields.maybe("memory", |at| at.parsed(str::parse::<Memory>));
    let threads = fields.maybe("threads", |at| at.whole(1..=THREADS_MAX));
    Some(Job {
        name: String::new(),
        description: description?,
        params: BTreeMap::new(),
        connections: BTreeMap::new(),
        sources: Vec::new(),
        dimensions: Vec::new(),
        measures: Vec::new(),
        stages: Vec::new(),
        strategy: Strategy::All,
        only: only?.unwrap_or_default(),
        ignore: ignore?.unwrap_or_default(),
        compare: compare?.unwrap_or(Method::Full),
        duplicates: duplicates?,
        reference: reference?,
        schedule: schedule?,
        queue: queue?.unwrap_or_else(|| QUEUE_DEFAULT.to_owned()),
        deadline: deadline?.unwrap_or(DEADLINE_DEFAULT),
        retries: retries?.and_then(|retries| u32::try_from(retries).ok()).unwrap_or_default(),
        notify: notify?,
        then: Vec::new(),
        memory: memory?,
        threads: threads?.and_then(|threads| usize::try_from(threads).ok()).and_then(NonZeroUsize::new),
    })
}

fn read_sources(at: &At<'_>, context: &Context<'_>) -> Option<Vec<Source>> {
    let items = at.named_or_listed()?;
    let count = items.len();
    if count < 2 {
        at.fault_name(format!("expected two sources or more, found {count}"), None);
    }
    let mut sources: Vec<Source> = Vec::new();
    for (name, item) in items {
        let name = item.name_of(name, "name");
        let source = source::read(name.as_deref().unwrap_or_default(), &item, context);
        let (Some(name), Some(source)) = (name, source) else { continue };
        if sources.iter().any(|known| known.name == name) {
            item.fault(format!("there are two sources {name:?}"), None);
        }
        sources.push(source);
    }
    (sources.len() == count).then_some(sources)
}

fn read_dimensions(fields: &Fields<'_>) -> Option<Vec<String>> {
    match (fields.get("dimensions"), fields.get("key")) {
        (Some(at), None) | (None, Some(at)) => at.texts(),
        (Some(_), Some(key)) => {
            key.fault_name("`dimensions` already says this; leave out one of them", None);
            None
        }
        (None, None) => {
            fields.at.fault_name("`dimensions` or `key` is missing: what rows are grouped by", None);
            None
        }
    }
}
