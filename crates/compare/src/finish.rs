//! The end of a comparison: decides by value what records could not, and tells of the breaks.

use std::collections::HashMap;

use crate::BreakSink;
use crate::bitmap::{Bitmap, Chosen, all_rows};
use crate::census::Census;
use crate::decide::Decider;
use crate::entry::{Entry, Purpose};
use crate::error::Error;
use crate::join::{GroupBreak, Tally};
use crate::merge::{aggregate_rows, pair_rows};
use crate::plan::Plan;
use crate::report::{Break, BreakHeader};
use crate::reread::{Reread, choose, place_of};
use crate::sorter::Sorter;
use crate::spec::{Duplicates, Rule, Spec};
use crate::value::read_sorted;

/// How many repeated keys an error names.
const EXAMPLES: usize = 3;

/// The rows that joining flagged, per source.
pub(crate) struct Flags {
    /// Of groups that broke, as records could tell.
    pub(crate) broken: Vec<Bitmap>,
    /// Of groups that only their values can decide.
    pub(crate) undecided: Vec<Bitmap>,
    /// Of keys that repeat but must not.
    pub(crate) repeated: Vec<Bitmap>,
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
        let show = |mut key: &[u8]| {
            let parts = plan.key.iter().map(|part| {
                let column = &plan.columns[*part];
                let value = read_sorted(&mut key).map_or("NULL".into(), |value| value.show(column));
                format!("{}={value}", column.name)
            });
            parts.collect::<Vec<_>>().join(" ")
        };
        let examples = keys.keys().map(|key| show(key)).collect::<Vec<_>>().join(", ");
        let count = tally.duplicated_keys[source];
        Err(Error::Duplicates { source_name: self.reread.sources[source].name.clone(), count, examples })
    }

    /// Decides what is undecided and tells of all breaks; the first of them are given back.
    pub(crate) fn tell(
        &self,
        tally: &mut Tally,
        census: &mut Census,
        sink: Option<BreakSink<'_>>,
    ) -> Result<Vec<Break>, Error> {
        let (plan, reread) = (self.reread.plan, self.reread);
        if self.spec.verify {
            *tally = Tally::new(self.reread.sources.len(), plan.measures.len());
        }
        self.check_duplicates(tally, census)?;
        let group_breaks = std::mem::take(&mut tally.breaks);
        let kept = std::mem::take(&mut tally.kept);
        let kept_all = !self.spec.verify && group_breaks.len() <= self.most_breaks;
        let chosen = |bitmaps: &[Bitmap]| -> Vec<Chosen> {
            bitmaps.iter().zip(reread.blocks).map(|(bitmap, blocks)| bitmap.chosen(blocks)).collect()
        };
        let mut sorters: Vec<Sorter<'_>> = Vec::new();
        if self.spec.verify {
            let all: Vec<Chosen> = reread.blocks.iter().map(|blocks| all_rows(blocks)).collect();
            sorters = reread.entries(&all, Purpose::Decide)?;
        } else if !plan.aggregates || !kept_all {
            sorters = reread.entries(&chosen(&self.flags.undecided), Purpose::Decide)?;
        }
        if self.decided && !plan.aggregates {
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
        if !kept.is_empty() {
            sorters.extend(reread.lean_entries(&chosen(&self.flags.broken), self.long, &kept)?);
        }
        let mut decider = Decider {
            plan,
            seeds: reread.seeds,
            sources: self.reread.sources.len(),
            tally,
            census,
            sink,
            header: self.header(plan),
            limit: self.spec.limit,
            long: self.long,
            breaks: Vec::new(),
            pending: Vec::new(),
        };
        if !plan.aggregates {
            pair_rows(Sorter::merge(sorters)?, &mut decider, self.spec.verify, self.reread.progress)?;
        } else if kept_all {
            tell_groups(reread, group_breaks, &mut decider)?;
        } else {
            aggregate_rows(Sorter::merge(sorters)?, &mut decider, self.spec.verify, self.reread.progress)?;
        }
        let Decider { mut breaks, pending, .. } = decider;
        self.show_long_texts(&mut breaks, &pending)?;
        if self.spec.verify {
            self.check_duplicates(tally, census)?;
        }
        Ok(breaks)
    }

    /// Reads the rows of listed breaks in full, for the long texts that were not needed to decide them.
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
        let mut rows = Sorter::merge(reread.entries(&chosen, Purpose::List)?)?;
        let mut shown = HashMap::new();
        while let Some(bytes) = rows.next()? {
            let entry = Entry::new(reread.plan, bytes);
            shown.insert(
                (entry.source(), entry.locator()),
                entry.shown(reread.plan, &entry.values(reread.plan)),
            );
        }
        for &(at, source, locator) in pending {
            let texts = shown.get(&(source, locator)).ok_or_else(|| reread.changed(source))?;
            for &measure in self.long {
                breaks[at].cells[measure].values[source] = Some(texts[measure].clone());
            }
        }
        Ok(())
    }

    fn header(&self, plan: &Plan) -> BreakHeader {
        let rule = |rule: &Rule| match rule {
            Rule::Exact => rule.type_name().to_string(),
            rule => format!("{} {rule}", rule.type_name()),
        };
        BreakHeader {
            sources: self.reread.sources.iter().map(|source| source.name.clone()).collect(),
            key: plan.key.iter().map(|part| plan.columns[*part].name.clone()).collect(),
            measures: plan.measures.iter().map(|it| (it.name.clone(), rule(&it.rule))).collect(),
        }
    }
}

/// Reads the keys of broken aggregated groups, and tells of them in order.
fn tell_groups(
    reread: &Reread<'_>,
    breaks: Vec<GroupBreak>,
    decider: &mut Decider<'_, '_>,
) -> Result<(), Error> {
    let plan = reread.plan;
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
    for (key, broken) in sorted {
        let key = Entry::key_of(plan, &key);
        for (part, value) in plan.key.iter().zip(&key) {
            decider.count_broken_value(*part, value.as_ref(), broken.rows);
        }
        let by_source: Vec<_> = (broken.locators.iter().enumerate())
            .map(|(source, locator)| {
                locator.map(|_| broken.values.iter().map(|values| values[source].clone()).collect())
            })
            .collect();
        decider.aggregates(decider.shown_key(&key), &by_source, true)?;
    }
    Ok(())
}
