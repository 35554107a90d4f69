//! What a job comes to with the values of a run, before anything is read.

use std::path::PathBuf;

use trueup_compare::Spec;
use trueup_events::outcome::RunError;
use trueup_job::{Method, Strategy};

use crate::breaks;
use crate::carry_out::Work;
use crate::failure::invalid_job;
use crate::pruning;
use crate::reading::Reading;
use crate::specification;

/// What is to be read and compared.
pub(crate) struct Plan {
    pub(crate) sources: Vec<Reading>,
    pub(crate) stages: Vec<Comparing>,
    pub(crate) strategy: Strategy,
    /// Whether rows are left out whose checksums agree.
    pub(crate) prunes: bool,
}

/// What a stage compares, and where its breaks go.
pub(crate) struct Comparing {
    pub(crate) name: String,
    pub(crate) spec: Spec,
    pub(crate) breaks: PathBuf,
}

impl Plan {
    /// Plans all of it; what cannot be carried out is refused here, with the field that says it.
    pub(crate) fn new(work: &Work<'_>) -> Result<Self, RunError> {
        let job = work.job;
        let sources = job.sources.iter().map(|source| Reading::of(work, source)).collect::<Result<_, _>>()?;
        let stage = |stage: &trueup_job::Stage| {
            let breaks =
                breaks::file(work.breaks_dir, &stage.name).map_err(|error| invalid_job("stages", error))?;
            let spec = specification::spec(job, stage, work.breaks_kept)?;
            Ok(Comparing { name: stage.name.clone(), spec, breaks })
        };
        let stages = job.stages.iter().map(stage).collect::<Result<_, _>>()?;
        let mut plan = Self { sources, stages, strategy: job.strategy, prunes: false };
        if job.compare == Method::Checksum {
            match pruning::check(&plan) {
                Ok(()) => plan.prunes = true,
                Err(why) => {
                    plan.stages.iter_mut().for_each(|stage| stage.spec.notes.push(pruning::note(why)));
                }
            }
        }
        Ok(plan)
    }
}
