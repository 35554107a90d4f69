//! The stages of a job: in order, from coarse to fine into what does not match, or at once.

use std::num::NonZeroU32;
use std::slice;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use trueup_compare::{Comparison, Limits, Progress, Selection};
use trueup_events::outcome::Verdict;
use trueup_job::Strategy;

use crate::carry_out::Stopped;
use crate::input::{self, Input};
use crate::plan::{Comparing, Plan};
use crate::summary;
use crate::telling::{Telling, Told};

/// How often it is looked at how far sources and comparisons are.
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// A comparison does not keep to less memory, so fewer stages are compared at once.
const LEAST_MEMORY: u64 = 48 << 20;

/// What a stage found and, if it is drilled into, the rows of the groups that do not match.
type Found = (Comparison, Vec<Selection>);

/// Compares a stage.
type Compare<'a> = dyn Fn(&Comparing, &Limits, &Progress) -> Result<Found, trueup_compare::Error> + Sync + 'a;

/// Compares the stages as the strategy says; what each found that was reached, in order.
pub(crate) fn compare(
    telling: &mut Telling<'_>,
    inputs: &[Input],
    plan: &Plan,
    limits: &Limits,
) -> Result<Vec<(String, Comparison)>, Stopped> {
    let whole = |stage: &Comparing, limits: &Limits, progress: &Progress| {
        let comparison = input::compare(inputs, &stage.spec, limits, progress, Some(&stage.breaks))?;
        Ok((comparison, Vec::new()))
    };
    let stages = Stages { inputs, compare: &whole };
    let found = match plan.strategy {
        Strategy::DrillDownOnFailure => drill_down(telling, inputs, &plan.stages, limits)?,
        Strategy::All => stages.compare(telling, &plan.stages, slice::from_ref(limits))?,
        Strategy::Parallel { max_stage_concurrency } => {
            let shares = shares(limits, plan.stages.len(), max_stage_concurrency);
            stages.compare(telling, &plan.stages, &shares)?
        }
    };
    let names = plan.stages.iter().map(|stage| stage.name.clone());
    Ok(names.zip(found.into_iter().map(|(comparison, _)| comparison)).collect())
}

/// Compares until a stage matches, each stage within the groups that the one before found unmatched.
fn drill_down(
    telling: &mut Telling<'_>,
    inputs: &[Input],
    stages: &[Comparing],
    limits: &Limits,
) -> Result<Vec<Found>, Stopped> {
    let mut reached: Vec<Found> = Vec::new();
    for stage in stages {
        let within = match reached.last() {
            None => None,
            Some((comparison, _)) if summary::verdict(comparison) == Verdict::Matched => break,
            // What fails only by a finding has no group to look into.
            Some((_, rows)) if rows.iter().all(Selection::is_empty) => break,
            Some((_, rows)) => Some(rows.as_slice()),
        };
        let part = |stage: &Comparing, limits: &Limits, progress: &Progress| {
            input::compare_within(inputs, within, stage, limits, progress)
        };
        let stages = Stages { inputs, compare: &part };
        let found = stages.compare(telling, slice::from_ref(stage), slice::from_ref(limits))?;
        reached.extend(found);
    }
    Ok(reached)
}

/// What each stage may use, of as many as are compared at once: no more together than there is.
fn shares(limits: &Limits, stages: usize, most: Option<NonZeroU32>) -> Vec<Limits> {
    let wanted = most.map_or(stages, |most| most.get() as usize).min(stages);
    let affordable = usize::try_from(limits.memory / LEAST_MEMORY).unwrap_or(usize::MAX);
    let count = wanted.min(limits.threads).min(affordable).max(1);
    let share = |at: usize| Limits {
        memory: limits.memory / count as u64,
        threads: limits.threads / count + usize::from(at < limits.threads % count),
        temp_dir: limits.temp_dir.clone(),
    };
    (0..count).map(share).collect()
}

/// What stages have in common that are compared at once.
struct Stages<'a> {
    inputs: &'a [Input],
    compare: &'a Compare<'a>,
}

/// A stage that is being compared.
struct UnderWay<'scope, 'a> {
    index: usize,
    share: &'a Limits,
    progress: Arc<Progress>,
    told: Told,
    comparing: ScopedJoinHandle<'scope, Result<Found, trueup_compare::Error>>,
}

/// Says that a comparison has ended, however it does.
struct Bell {
    index: usize,
    ended: Sender<usize>,
}

impl Drop for Bell {
    fn drop(&mut self) {
        // Whoever listens waits for all comparisons, unless it panics.
        self.ended.send(self.index).unwrap_or_default();
    }
}

impl Stages<'_> {
    /// Begins to compare a stage.
    fn start<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        telling: &mut Telling<'_>,
        stage: &'env Comparing,
        share: &'env Limits,
        bell: Bell,
    ) -> UnderWay<'scope, 'env> {
        let told = telling.started(&stage.name);
        let progress = Arc::new(Progress::new(self.inputs.len()));
        if telling.is_cancelled() {
            progress.cancel();
        }
        let index = bell.index;
        let of_stage = Arc::clone(&progress);
        let comparing = scope.spawn(move || {
            let _bell = bell;
            (self.compare)(stage, share, &of_stage)
        });
        UnderWay { index, share, progress, told, comparing }
    }

    /// Compares as many stages at once as there are shares, and begins them in order; the first that fails ends all.
    fn compare(
        &self,
        telling: &mut Telling<'_>,
        stages: &[Comparing],
        shares: &[Limits],
    ) -> Result<Vec<Found>, Stopped> {
        let (ended, endings) = channel();
        let mut found: Vec<Option<Found>> = stages.iter().map(|_| None).collect();
        let mut stopped: Option<Stopped> = None;
        thread::scope(|scope| {
            let mut waiting = stages.iter().enumerate();
            let mut free: Vec<&Limits> = shares.iter().rev().collect();
            let mut under_way: Vec<UnderWay<'_, '_>> = Vec::new();
            loop {
                if telling.is_cancelled() {
                    stopped.get_or_insert(Stopped::Cancelled);
                }
                while stopped.is_none() && !free.is_empty() {
                    let (Some((index, stage)), Some(share)) = (waiting.next(), free.pop()) else { break };
                    let bell = Bell { index, ended: ended.clone() };
                    under_way.push(self.start(scope, telling, stage, share, bell));
                }
                if under_way.is_empty() {
                    return;
                }
                let index = endings.recv_timeout(LOOK).ok();
                for stage in &mut under_way {
                    telling.look_at(&mut stage.told, &stage.progress);
                    if telling.is_cancelled() || stopped.is_some() {
                        stage.progress.cancel();
                    }
                }
                let Some(at) = under_way.iter().position(|stage| Some(stage.index) == index) else {
                    continue;
                };
                let UnderWay { index, share, progress, mut told, comparing } = under_way.remove(at);
                match (comparing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), &stopped) {
                    (Ok(one), _) => {
                        telling.completed(&mut told, &progress, &one.0);
                        found[index] = Some(one);
                        free.push(share);
                    }
                    (Err(error), None) => stopped = Some(telling.failed(&told, self.inputs, &error)),
                    (Err(_), Some(Stopped::Failed(cause))) => telling.called_off(&told, cause),
                    (Err(_), Some(Stopped::Cancelled)) => {}
                }
            }
        });
        stopped.map_or_else(|| Ok(found.into_iter().flatten().collect()), Err)
    }
}
