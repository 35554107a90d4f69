//! The steps of a comparison, from coarse to fine.

use std::num::NonZeroU32;

use crate::context::Context;
use crate::cursor::{At, Fields};
use crate::shape::{Kind, Shape, TEXTS, optional, required};
use crate::tolerance::{self, TOLERANCES, Tolerance};
use crate::word::words;

pub(crate) const STAGE: Shape = Shape {
    fields: &[
        required("name", Kind::Text, "Its name in every report."),
        optional("dimensions", TEXTS, "What it groups by, of the job's dimensions; all of them unless said."),
        optional("tolerances", TOLERANCES, "How far values may be apart; what is not listed is exact."),
    ],
};

/// The name of the one stage of a job that lists none.
const ONLY_STAGE: &str = "all";

words! {
    /// How the stages of a job are run, as it is written.
    pub(crate) StrategyKind {
        /// From coarse to fine, into what is unmatched.
        DrillDownOnFailure = "DRILL_DOWN_ON_FAILURE",
        /// All at once.
        Parallel = "PARALLEL",
        /// In order.
        All = "ALL",
    }
}

/// How the stages of a job are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// From coarse to fine until one matches, each only into what the one before found unmatched.
    DrillDownOnFailure,
    /// All at once, or this many.
    Parallel {
        /// How many at once.
        max_stage_concurrency: Option<NonZeroU32>,
    },
    /// In order.
    All,
}

impl Strategy {
    /// Its name in the document.
    pub fn name(self) -> &'static str {
        match self {
            Self::DrillDownOnFailure => StrategyKind::DrillDownOnFailure.name(),
            Self::Parallel { .. } => StrategyKind::Parallel.name(),
            Self::All => StrategyKind::All.name(),
        }
    }
}

/// One comparison of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stage {
    /// Its name in every report.
    pub name: String,
    /// What it groups by.
    pub dimensions: Vec<String>,
    /// How far values may be apart; what is not listed is exact.
    pub tolerances: Vec<Tolerance>,
}

/// Reads the stages of a job, or makes the one that its own tolerances stand for.
pub(crate) fn read_all(job: &Fields<'_>, dimensions: &[String], context: &Context<'_>) -> Option<Vec<Stage>> {
    let Some(at) = job.get("stages") else {
        let tolerances = job.maybe("tolerances", |at| tolerance::read_all(at, context))?;
        let tolerances = tolerances.unwrap_or_default();
        return Some(vec![Stage {
            name: ONLY_STAGE.to_owned(),
            dimensions: dimensions.to_vec(),
            tolerances,
        }]);
    };
    for name in ["tolerances", "key"] {
        if let Some(at) = job.get(name) {
            let hint = if name == "key" { "write `dimensions`" } else { "move it into a stage" };
            at.fault_name("this is for jobs without stages", hint.to_owned());
        }
    }
    let items = at.items()?;
    if items.is_empty() {
        at.fault("the list is empty", "leave out `stages` to compare once".to_owned());
    }
    if items.len() > 1 && context.measures.is_empty() {
        at.fault_name(
            "without measures rows are compared one by one, which is one stage",
            "add `measures`".to_owned(),
        );
    }
    let count = items.len();
    let mut stages: Vec<Stage> = Vec::new();
    for item in items {
        let Some(stage) = read(&item, dimensions, context) else { continue };
        if stages.iter().any(|known| known.name == stage.name) {
            item.fault(
                format!("there are two stages {:?}", stage.name),
                "give one of them another name".to_owned(),
            );
        }
        stages.push(stage);
    }
    (stages.len() == count).then_some(stages)
}

fn read(at: &At<'_>, all: &[String], context: &Context<'_>) -> Option<Stage> {
    let fields = at.fields(&STAGE)?;
    let name = fields.get("name").and_then(|at| at.text());
    let dimensions = fields.maybe("dimensions", |at| {
        let dimensions = at.texts()?;
        for item in at.items()? {
            // Without any, what is wrong is noted where they should be.
            let unknown =
                |name: &String| !context.dimensions.is_empty() && !context.dimensions.contains(name);
            if let Some(name) = item.text().filter(unknown) {
                item.unknown("dimension", &name, context.dimensions.iter().map(String::as_str));
            }
        }
        Some(dimensions)
    });
    let tolerances = fields.maybe("tolerances", |at| tolerance::read_all(at, context));
    Some(Stage {
        name: name?,
        dimensions: dimensions?.unwrap_or_else(|| all.to_vec()),
        tolerances: tolerances?.unwrap_or_default(),
    })
}

/// Reads how the stages are run; drilling down needs each stage finer than the one before.
pub(crate) fn read_strategy(job: &Fields<'_>, stages: Option<&[Stage]>) -> Option<Strategy> {
    let kind = job.maybe("strategy", At::word)?.unwrap_or(StrategyKind::All);
    let limit = job.maybe("max_stage_concurrency", |at| at.whole(1..=1000))?;
    if let Some(at) = job.get("max_stage_concurrency").filter(|_| kind != StrategyKind::Parallel) {
        at.fault_name(format!("this is for PARALLEL, and the strategy is {kind}"), None);
    }
    if kind == StrategyKind::DrillDownOnFailure {
        check_order(job, stages.unwrap_or_default());
    }
    Some(match kind {
        StrategyKind::DrillDownOnFailure => Strategy::DrillDownOnFailure,
        StrategyKind::Parallel => {
            let limit = limit.and_then(|limit| u32::try_from(limit).ok()).and_then(NonZeroU32::new);
            Strategy::Parallel { max_stage_concurrency: limit }
        }
        StrategyKind::All => Strategy::All,
    })
}

fn check_order(job: &Fields<'_>, stages: &[Stage]) {
    let items = job.get("stages").and_then(|at| at.items()).unwrap_or_default();
    for (pair, at) in stages.windows(2).zip(items.iter().skip(1)) {
        let (coarse, fine) = (&pair[0], &pair[1]);
        let keeps_all = coarse.dimensions.iter().all(|name| fine.dimensions.contains(name));
        if !keeps_all || fine.dimensions.len() <= coarse.dimensions.len() {
            let message = format!(
                "drilling down goes from coarse to fine: expected the dimensions of {:?} ({}) and more",
                coarse.name,
                coarse.dimensions.join(", "),
            );
            at.fault(message, "order the stages, or choose strategy ALL".to_owned());
        }
    }
}
