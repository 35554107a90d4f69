//! The end of a comparison: decides by value what records could not, and tells of the breaks.

mod batch;
mod costs;
pub(crate) mod decide;
mod in_order;
mod merge;
mod pairing;
mod tell;

use std::collections::HashMap;

use crate::BreakSink;
use crate::error::Error;
use crate::finish::batch::{Cutter, Decision, Rows};
use crate::finish::decide::{Decider, Told, Wanted};
use crate::finish::in_order::in_order;
use crate::finish::tell::Teller;
use crate::join::kept::Kept;
use crate::join::{GroupBreak, Tally};
use crate::plan::{Measure, Plan};
use crate::report::census::Census;
use crate::report::shown::Shown;
use crate::report::{Break, BreakHeader};
use crate::reread::bitmap::{Bitmap, Chosen, all_rows};
use crate::reread::entry::{Entry, Purpose};
use crate::reread::{Reread, choose, place_of};
use crate::spec::{Duplicates, Spec, Tolerance};
use crate::spill::distinct::Room;
use crate::spill::sorter::{Merge, Sorter};

/// How many repeated keys an error names.
const EXAMPLES: usize = 3;
/// Aggregated groups that are rendered at once.
const BATCH_GROUPS: usize = 1024;

/// The rows that joining flagged, per source.
pub(crate) struct Flags {
    /// Of groups that broke, as records could tell.
    pub(crate) broken: Vec<Bitmap>,
    /// Of groups that only their values can decide.
    pub(crate) undecided: Vec<Bitmap>,
    /// Of keys that repeat but must not.
    pub(crate) repeated: Vec<Bitmap>,
    /// Of keys that break, row by row, if anybody asks for them.
    pub(crate) unmatched: Option<Vec<Bitmap>>,
}

/// What the end of a comparison starts from.
pub(crate) struct Finish<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) reread: &'a Reread<'a>,
    pub(crate) flags: &'a Flags,
    /// Whether records told all about groups with at most one row per source.
    pub(crate) decided: bool,
    /// Broken groups of an aggregated comparison that were kept.
    pub(crate) most_breaks: usize,
    /// Measures of long text that records have a word for.
    pub(crate) long: &'a [usize],
}

impl Finish<'_> {
    /// Refuses keys that repeat, if they must not.
    fn check_duplicates(&self, tally: &Tally, census: &mut Census) -> Result<(), Error> {
        let (plan, reread) = (self.reread.plan, self.reread);
        let Some(source) = tally.duplicated_keys.iter().position(|count| *count > 0) else {
            return Ok(());
        };
        if plan.duplicates != Duplicates::Error {
            return Ok(());
        }
        let mut chosen = vec![Chosen::default(); self.reread.sources.len()];
        chosen[source] = self.flags.repeated[source].chosen(&reread.blocks[source]);
        let keys = reread.first_keys(&chosen, EXAMPLES, census)?;
        let examples = keys.keys().map(|key| Entry::group_of(plan, key)).collect::<Vec<_>>().join(", ");
        let count = tally.duplicated_keys[source];
        Err(Error::Duplicates { source_name: self.reread.sources[source].name.clone(), count, examples })
    }

    /// Decides what is undecided and tells of all breaks; the first of them are given back.
    pub(crate) fn tell(
        &self,
        tally: &mut Tally,
        census: &mut Census,
        sink: &mut Option<BreakSink<'_>>,
    ) -> Result<Vec<Break>, Error> {
        let (plan, reread) = (self.reread.plan, self.reread);
        if self.spec.verify {
            *tally = Tally::new(self.reread.sources.len(), plan.measures.len());
        }
        self.check_duplicates(tally, census)?;
        let group_breaks = std::mem::take(&mut tally.breaks);
        let mut kept = std::mem::take(&mut tally.kept);
        kept.sort();
        let overflowed = tally.overflowed;
        let kept_all = !self.spec.verify && group_breaks.len() <= self.most_breaks;
        let told_by_groups = plan.aggregates && kept_all && overflowed.is_none();
        let sorters = if told_by_groups { Vec::new() } else { self.rows(&kept, census)? };
        drop(kept);
        let told = Told { tally: std::mem::take(tally), ..Told::new(plan, reread.sources.len()) };
        let mut teller = Teller::new(sink, self.header(plan), reread.threads, self.spec.limit, told)?;
        if told_by_groups {
            self.tell_groups(group_breaks, census, &mut teller)?;
        } else {
            self.tell_rows(Sorter::merge(sorters, reread.progress)?, census, &mut teller)?;
        }
        if let Some(source) = overflowed {
            // By value no group overflows, so these are not the values that were read before.
            return Err(reread.changed(source));
        }
        *tally = std::mem::take(&mut teller.told.tally);
        census.add_broken(&teller.told.broken);
        if self.spec.verify {
            self.check_duplicates(tally, census)?;
        }
        let Told { mut breaks, pending, .. } = teller.finish()?;
        self.show_long_texts(&mut breaks, &pending)?;
        Ok(breaks)
    }

    /// The rows that are to be decided or listed.
    fn rows(&self, kept: &Kept, census: &mut Census) -> Result<Vec<Sorter<'_>>, Error> {
        let reread = self.reread;
        if self.spec.verify {
            let all: Vec<Chosen> = reread.blocks.iter().map(|blocks| all_rows(blocks)).collect();
            return reread.entries(&all, Purpose::Decide);
        }
        let chosen = |bitmaps: &[Bitmap]| -> Vec<Chosen> {
            bitmaps.iter().zip(reread.blocks).map(|(bitmap, blocks)| bitmap.chosen(blocks)).collect()
        };
        let mut sorters = reread.entries(&chosen(&self.flags.undecided), Purpose::Decide)?;
        if self.decided && !reread.plan.aggregates {
            let first = reread.first_keys(&chosen(&self.flags.broken), self.spec.limit, census)?;
            let places = |source: usize| {
                let all = first.values().flatten().filter(move |place| place.0 == source);
                all.map(|(_, part, position)| (*part, *position))
            };
            let listed: Vec<Chosen> = (reread.blocks.iter().enumerate())
                .map(|(source, blocks)| choose(places(source), blocks))
                .collect();
            sorters.extend(reread.entries(&listed, Purpose::List)?);
        }
        if kept.len() > 0 {
            sorters.extend(reread.lean_entries(&chosen(&self.flags.broken), self.long, kept)?);
        }
        Ok(sorters)
    }

    fn decider<'b>(&'b self, few: &'b Census, wanted: &'b Wanted) -> Decider<'b> {
        let (plan, sources) = (self.reread.plan, self.reread.sources);
        let told = Told::new(plan, sources.len());
        Decider {
            plan,
            seeds: self.reread.seeds,
            sources,
            long: self.long,
            few,
            wanted,
            told,
            shown: Shown::default(),
            broke: false,
            overflow: None,
        }
    }

    /// Decides rows, batches of keys on all threads, and a key with too many rows for one by itself.
    fn tell_rows(&self, rows: Merge<'_>, few: &Census, teller: &mut Teller<'_>) -> Result<(), Error> {
        let reread = self.reread;
        let Reread { plan, budget, progress, sort_bytes: bytes, .. } = *reread;
        let room = Room { bytes, budget, progress }.shared(plan, reread.sources.len());
        let unmatched = self.flags.unmatched.as_deref();
        let decision = Decision { aggregates: plan.aggregates, counts: self.spec.verify, room, unmatched };
        let wanted = &teller.wanted();
        let mut cutter = Cutter::new(rows);
        loop {
            let decide = |rows: Rows| {
                let mut decider = self.decider(few, wanted);
                decision.batch(&rows, &mut decider)?;
                Ok(decider.told)
            };
            in_order(reread.threads, || cutter.keys(), decide, |batch| teller.take(batch))?;
            let Some(rows) = cutter.long_key() else {
                return Ok(());
            };
            let mut overflow = |told| teller.take(told);
            let mut decider = Decider { overflow: Some(&mut overflow), ..self.decider(few, wanted) };
            decision.long_key(rows, &mut decider)?;
            let told = decider.told;
            overflow(told)?;
        }
    }

    /// Reads the keys of broken aggregated groups, and tells of them in order.
    fn tell_groups(
        &self,
        breaks: Vec<GroupBreak>,
        few: &Census,
        teller: &mut Teller<'_>,
    ) -> Result<(), Error> {
        let wanted = &teller.wanted();
        let mut sorted = by_key(self.reread, breaks)?.into_iter();
        let next = || {
            let batch: Vec<_> = sorted.by_ref().take(BATCH_GROUPS).collect();
            Ok(Some(batch).filter(|batch| !batch.is_empty()))
        };
        let tell = |batch: Vec<(Vec<u8>, GroupBreak)>| {
            let mut decider = self.decider(few, wanted);
            for (key, broken) in batch {
                tell_group(&key, &broken, &mut decider)?;
            }
            Ok(decider.told)
        };
        in_order(self.reread.threads, next, tell, |batch| teller.take(batch))
    }

    /// Reads the long texts of listed breaks, which were not needed to decide them.
    fn show_long_texts(&self, breaks: &mut [Break], pending: &[(usize, usize, u32)]) -> Result<(), Error> {
        if pending.is_empty() {
            return Ok(());
        }
        let reread = self.reread;
        let chosen: Vec<Chosen> = (reread.blocks.iter().enumerate())
            .map(|(source, blocks)| {
                let own = pending.iter().filter(|(_, of, _)| *of == source);
                choose(own.map(|(_, _, locator)| place_of(blocks, *locator)), blocks)
            })
            .collect();
        let mut rows = Sorter::merge(reread.long_texts(&chosen, self.long)?, reread.progress)?;
        let mut shown = HashMap::new();
        while let Some(bytes) = rows.next()? {
            let entry = Entry::new(bytes.into());
            shown.insert((entry.source(), entry.locator()), entry.shown(reread.plan));
        }
        for &(at, source, locator) in pending {
            let texts = shown.get(&(source, locator)).ok_or_else(|| reread.changed(source))?;
            for &measure in self.long {
                if let Some(value) = breaks[at].cells[measure].values.get_mut(source) {
                    *value = Some(texts[measure].clone());
                }
            }
        }
        Ok(())
    }

    fn header(&self, plan: &Plan) -> BreakHeader {
        let tolerance =
            |measure: &Measure| Tolerance { rule: measure.rule.clone(), allow: measure.allow.clone() };
        BreakHeader {
            sources: self.reread.sources.iter().map(|source| source.name.clone()).collect(),
            key: plan.key.iter().map(|part| plan.columns[*part].name.clone()).collect(),
            measures: plan.measures.iter().map(|it| (it.name.clone(), tolerance(it))).collect(),
        }
    }
}

/// Broken aggregated groups in the order of their keys, which are read for it.
fn by_key(reread: &Reread<'_>, breaks: Vec<GroupBreak>) -> Result<Vec<(Vec<u8>, GroupBreak)>, Error> {
    let shown_by = |broken: &GroupBreak| {
        broken.locators.iter().enumerate().find_map(|(source, locator)| Some((source, (*locator)?)))
    };
    let chosen: Vec<Chosen> = (reread.blocks.iter().enumerate())
        .map(|(source, blocks)| {
            let own = breaks.iter().filter_map(shown_by).filter(|(of, _)| *of == source);
            choose(own.map(|(_, locator)| place_of(blocks, locator)), blocks)
        })
        .collect();
    let mut keys = reread.keys(&chosen)?;
    let mut sorted = Vec::with_capacity(breaks.len());
    for broken in breaks {
        let Some(place) = shown_by(&broken) else { continue };
        let key = keys.remove(&place).ok_or_else(|| reread.changed(place.0))?;
        sorted.push((key, broken));
    }
    sorted.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(sorted)
}

fn tell_group(key: &[u8], broken: &GroupBreak, decider: &mut Decider<'_>) -> Result<(), Error> {
    for (part, value) in decider.plan.key.iter().zip(Entry::key_of(decider.plan, key)) {
        decider.count_broken_value(*part, value.as_ref(), broken.rows);
    }
    let by_source: Vec<_> = (broken.locators.iter().enumerate())
        .map(|(source, locator)| {
            locator.map(|_| broken.values.iter().map(|values| values[source].clone()).collect())
        })
        .collect();
    decider.aggregates(key, &by_source, true).map(drop)
}
