//! Decides groups by their values, and tells of those that break.

use crate::error::Error;
use crate::fingerprint::Seeds;
use crate::finish::costs::costs;
use crate::finish::pairing::{MOST_ROWS, pair};
use crate::join::Tally;
use crate::kind::Kind;
use crate::number::Quantity;
use crate::plan::{Measure, Plan};
use crate::progress::Progress;
use crate::report::Break;
use crate::report::breaks_file::{Rendered, Renderer};
use crate::report::census::Census;
use crate::report::shown::Shown;
use crate::reread::entry::{Entry, Purpose, measured};
use crate::rule::display_signed_duration;
use crate::spec::{Aggregate, Rule, Source};
use crate::spill::queue::{Queue, Waiting};
use crate::tolerance::{Outcome, check};
use crate::value::{Value, cell_word, take_cell, word, write_shown_cell};

/// With more rows of one key than this in a source, finding the best pairs costs too much.
pub(crate) const MOST_PAIRED: u64 = MOST_ROWS as u64;

/// Decides groups by their values.
pub(crate) struct Decider<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) seeds: &'a Seeds,
    pub(crate) sources: &'a [Source<'a>],
    /// Measures whose values are words in lean entries.
    pub(crate) long: &'a [usize],
    /// The columns with few values.
    pub(crate) few: &'a Census,
    pub(crate) wanted: &'a Wanted,
    pub(crate) told: Told,
    /// The break that is being told of.
    pub(crate) shown: Shown,
    /// Whether a break was found since it was last asked.
    pub(crate) broke: bool,
    /// Takes what was told whenever that is a batch; without one, it all stays in `told`.
    pub(crate) overflow: Option<&'a mut dyn FnMut(Told) -> Result<(), Error>>,
}

/// What is wanted of breaks.
pub(crate) struct Wanted {
    /// So many of the first are kept, with the values that are within, too.
    pub(crate) kept: usize,
    /// Renders all of them.
    pub(crate) renderer: Option<Renderer>,
}

/// What was decided of some groups.
pub(crate) struct Told {
    pub(crate) tally: Tally,
    /// The values of broken rows.
    pub(crate) broken: Census,
    /// How many breaks were told of.
    pub(crate) count: usize,
    /// The first of them.
    pub(crate) breaks: Vec<Break>,
    pub(crate) rendered: Option<Rendered>,
    /// Rows of those breaks whose long texts are still to be read: break, source and locator.
    pub(crate) pending: Vec<(usize, usize, u32)>,
}

impl Told {
    pub(crate) fn new(plan: &Plan, sources: usize) -> Self {
        Self {
            tally: Tally::new(sources, plan.measures.len()),
            broken: Census::new(plan),
            count: 0,
            breaks: Vec::new(),
            rendered: None,
            pending: Vec::new(),
        }
    }
}

/// A measure of rows that belong together, which is outside.
struct Judged {
    measure: usize,
    /// By source.
    values: Vec<Option<Value>>,
    outcome: Outcome,
}

/// The cells of rows that belong together.
struct Cells<'e> {
    rows: usize,
    measures: usize,
    /// By row, then by measure.
    bytes: Vec<&'e [u8]>,
}

impl<'e> Cells<'e> {
    fn new(plan: &Plan, tuple: &[Option<&'e Entry<'_>>]) -> Self {
        let (rows, measures) = (tuple.iter().flatten().count(), plan.measures.len());
        let mut bytes = Vec::with_capacity(rows * measures);
        tuple.iter().flatten().for_each(|row| bytes.extend(row.by_measure(plan)));
        Self { rows, measures, bytes }
    }

    /// The cells of a measure, by row.
    fn of(&self, measure: usize) -> impl Iterator<Item = &'e [u8]> {
        (0..self.rows).map(move |row| self.bytes[row * self.measures + measure])
    }

    fn are_equal(&self, measure: usize) -> bool {
        let first = self.bytes[measure];
        self.of(measure).skip(1).all(|cell| cell == first)
    }
}

/// How many breaks are handed on at once.
const BATCH_BREAKS: usize = 256;

/// Rows paired with each other, at most one per source.
type Tuple = Vec<Option<Entry<'static>>>;

impl Decider<'_> {
    /// Pairs the rows that are left of a key, given per source in the order of their values, and decides the pairs.
    pub(crate) fn rows(
        &mut self,
        left: &mut [Queue<'_>],
        has_key: &[bool],
        progress: &Progress,
    ) -> Result<(), Error> {
        let mut occurrence = 0;
        let are_few = left.iter().all(|rows| rows.len() <= MOST_PAIRED);
        let are_pairs = left.iter().filter(|rows| rows.len() > 0).count() > 1;
        self.told.tally.paired_in_order += u64::from(!are_few && are_pairs);
        let mut left = left.iter_mut().map(Queue::take).collect::<Result<Vec<_>, _>>()?;
        if !are_few {
            loop {
                let tuple: Tuple = left.iter_mut().map(Waiting::next).collect::<Result<_, _>>()?;
                if tuple.iter().all(Option::is_none) {
                    return Ok(());
                }
                progress.check()?;
                let tuple: Vec<Option<&Entry<'_>>> = tuple.iter().map(Option::as_ref).collect();
                self.tuple(&tuple, Some(has_key), &mut occurrence)?;
            }
        }
        let first = self.plan.reference.unwrap_or(0);
        let others = (0..self.sources.len()).filter(|source| *source != first);
        let mut tuples: Vec<Tuple> = Vec::new();
        for source in std::iter::once(first).chain(others) {
            let rows = std::iter::from_fn(|| left[source].next().transpose()).collect::<Result<_, _>>()?;
            self.assign(&mut tuples, source, rows, first);
        }
        tuples.iter().try_for_each(|tuple| {
            let tuple: Vec<Option<&Entry<'_>>> = tuple.iter().map(Option::as_ref).collect();
            self.tuple(&tuple, Some(has_key), &mut occurrence)
        })
    }

    /// Adds the rows of one more source to the tuples, with the fewest columns outside.
    fn assign(&self, tuples: &mut Vec<Tuple>, source: usize, rows: Vec<Entry<'static>>, first: usize) {
        // The first row of a tuple is the reference's, or that of the lowest source.
        let held = tuples.iter().filter_map(|tuple| tuple[first].as_ref().or(tuple.iter().flatten().next()));
        let costs = costs(self.plan, &held.collect::<Vec<_>>(), &rows);
        let pairs = if rows.is_empty() { Vec::new() } else { pair(&costs, rows.len()) };
        let mut rows: Vec<Option<Entry<'static>>> = rows.into_iter().map(Some).collect();
        for (tuple, row) in tuples.iter_mut().zip(pairs) {
            tuple[source] = row.and_then(|row| rows[row].take());
        }
        for row in rows.into_iter().flatten() {
            let mut tuple: Tuple = vec![None; self.sources.len()];
            tuple[source] = Some(row);
            tuples.push(tuple);
        }
    }

    /// Decides rows that belong together, all of their key unless it is said which sources have more; `occurrence` counts the
    /// breaks of the key.
    pub(crate) fn tuple(
        &mut self,
        tuple: &[Option<&Entry<'_>>],
        has_key: Option<&[bool]>,
        occurrence: &mut u64,
    ) -> Result<(), Error> {
        let Some(some) = tuple.iter().flatten().next() else {
            return Ok(());
        };
        let cells = Cells::new(self.plan, tuple);
        let mut outside: Vec<Judged> = Vec::new();
        if cells.rows == self.sources.len() {
            for (index, measure) in self.plan.measures.iter().enumerate() {
                if cells.are_equal(index) {
                    continue;
                }
                let values: Vec<_> = cells.of(index).map(|cell| measured(self.plan, index, cell)).collect();
                let outcome = judge(&measure.rule, self.plan.reference, &values);
                self.measure(index, &outcome);
                if !outcome.within {
                    outside.push(Judged { measure: index, values, outcome });
                }
            }
            if outside.is_empty() {
                self.told.tally.matched += 1;
                return Ok(());
            }
        }
        let present: Vec<bool> = tuple.iter().map(Option::is_some).collect();
        if some.purpose() != Purpose::List {
            self.count(&present, outside.iter().map(|judged| judged.measure));
            self.told.tally.broken_rows += cells.rows as u64;
            self.count_broken(some, &cells);
        }
        *occurrence += 1;
        self.broke = true;
        if !self.is_told() {
            return Ok(());
        }
        if some.purpose() == Purpose::DecideLean {
            let at = self.told.breaks.len();
            let rows = tuple.iter().flatten().map(|row| (at, row.source(), row.locator()));
            self.told.pending.extend(rows);
        }
        self.shown.start(&present, has_key.unwrap_or(&present), *occurrence);
        self.show_key(some.key());
        self.show_cells(tuple, &cells, &outside);
        self.tell()
    }

    /// Shows the cells of a break, those of measures that are within only where they are wanted.
    fn show_cells(&mut self, tuple: &[Option<&Entry<'_>>], cells: &Cells<'_>, outside: &[Judged]) {
        let plan = self.plan;
        let in_full = self.is_kept() || tuple.contains(&None);
        let mut found: Vec<Option<&str>> = Vec::with_capacity(cells.bytes.len());
        tuple.iter().flatten().for_each(|row| found.extend(row.found(plan)));
        let mut outside = outside.iter().peekable();
        for (index, measure) in plan.measures.iter().enumerate() {
            let judged = outside.next_if(|judged| judged.measure == index);
            if !in_full && judged.is_none() {
                continue;
            }
            self.shown.measure(index, judged.map(|judged| judged.outcome.pair));
            let column = measure.column.map(|column| &plan.columns[column]);
            let mut rows = cells.of(index).enumerate();
            for source in tuple {
                let row = source.and_then(|_| rows.next());
                self.shown.value(|out| {
                    let Some((row, cell)) = row else { return false };
                    if let Some(text) = found[row * cells.measures + index] {
                        out.push_str(text);
                        return true;
                    }
                    let Some(column) = column else { return false };
                    let Some(judged) = judged else { return write_shown_cell(cell, column, out) };
                    judged.values[row].iter().for_each(|value| value.write_shown(column, out));
                    judged.values[row].is_some()
                });
            }
            judged.iter().for_each(|judged| self.show_difference(measure, &judged.outcome));
        }
    }

    /// Decides a group by its aggregates, by source; nothing is counted if it was before.
    pub(crate) fn aggregates(
        &mut self,
        key: &[u8],
        by_source: &[Option<Vec<Option<Quantity>>>],
        counted: bool,
    ) -> Result<bool, Error> {
        let plan = self.plan;
        let present: Vec<bool> = by_source.iter().map(Option::is_some).collect();
        let mut outcomes: Vec<Option<Outcome>> = vec![None; self.plan.measures.len()];
        if present.iter().all(|present| *present) {
            for (index, measure) in self.plan.measures.iter().enumerate() {
                let values: Vec<Option<Quantity>> =
                    by_source.iter().flatten().map(|values| values[index].clone()).collect();
                let outcome = check(&measure.rule, self.plan.reference, &values);
                self.measure(index, &outcome);
                outcomes[index] = (!outcome.within).then_some(outcome);
            }
            if outcomes.iter().all(Option::is_none) {
                self.told.tally.matched += u64::from(!counted);
                return Ok(false);
            }
        }
        if !counted {
            let outside = outcomes.iter().enumerate().filter(|(_, outcome)| outcome.is_some());
            self.count(&present, outside.map(|(measure, _)| measure));
        }
        let in_full = self.is_kept() || present.contains(&false);
        self.shown.start(&present, &present, 1);
        self.show_key(key);
        for (index, (measure, outcome)) in plan.measures.iter().zip(&outcomes).enumerate() {
            if !in_full && outcome.is_none() {
                continue;
            }
            self.shown.measure(index, outcome.as_ref().map(|outcome| outcome.pair));
            let values = || by_source.iter().map(|values| values.as_ref()?[index].as_ref());
            let digits = Quantity::telling_digits(&values().flatten().collect::<Vec<_>>());
            for value in values() {
                self.shown.value(|out| {
                    value
                        .iter()
                        .for_each(|value| out.push_str(&show_aggregate(plan, measure, value, digits)));
                    value.is_some()
                });
            }
            outcome.iter().for_each(|outcome| self.show_difference(measure, outcome));
        }
        self.tell()?;
        Ok(true)
    }

    /// Shows the key.
    fn show_key(&mut self, mut key: &[u8]) {
        for &part in &self.plan.key {
            let cell = take_cell(&mut key);
            self.shown.key_part(|out| write_shown_cell(cell, &self.plan.columns[part], out));
        }
    }

    /// Shows how far a measure is outside.
    fn show_difference(&mut self, measure: &Measure, outcome: &Outcome) {
        let kind = measure.column.map_or(Kind::Number, |column| self.plan.columns[column].kind);
        let difference = outcome.difference.as_ref().and_then(|it| show_difference(measure, kind, it, true));
        difference.iter().for_each(|difference| self.shown.difference(difference));
    }

    /// Counts a group that broke, given the measures that are outside.
    fn count(&mut self, present: &[bool], outside: impl Iterator<Item = usize>) {
        if present.contains(&false) {
            self.told.tally.unmatched_groups += 1;
            let counts = self.told.tally.unmatched_by_source.iter_mut().zip(present);
            counts.for_each(|(count, present)| *count += u64::from(*present));
            return;
        }
        self.told.tally.outside_groups += 1;
        outside.for_each(|measure| self.told.tally.outside[measure] += 1);
    }

    /// Takes note of a difference; of one that records told of already, once more.
    fn measure(&mut self, measure: usize, outcome: &Outcome) {
        let largest = &mut self.told.tally.largest[measure];
        outcome.difference.iter().for_each(|difference| largest.offer_difference(difference));
    }

    /// Counts the values of a tuple's rows, of which one is given and the cells of all.
    fn count_broken(&mut self, some: &Entry<'_>, cells: &Cells<'_>) {
        if self.plan.key.iter().any(|part| self.few.counts(*part)) {
            for (part, value) in self.plan.key.iter().zip(some.key_values(self.plan)) {
                self.count_broken_value(*part, value.as_ref(), cells.rows as u64);
            }
        }
        let lean = some.purpose() == Purpose::DecideLean;
        for (index, measure) in self.plan.measures.iter().enumerate() {
            let counted = |it: &usize| self.few.counts(*it) && !self.plan.key.contains(it);
            let Some(column) = measure.column.filter(counted) else { continue };
            let is_word = lean && self.long.contains(&index);
            let all_alike = cells.are_equal(index);
            let rows = if all_alike { cells.rows as u64 } else { 1 };
            for cell in cells.of(index).take(if all_alike { 1 } else { cells.rows }) {
                let read = is_word.then(|| measured(self.plan, index, cell)).flatten();
                let word = match read {
                    Some(Value::Bytes(word)) => {
                        word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
                    }
                    _ => cell_word(self.seeds, column, &self.plan.columns[column], cell),
                };
                self.told.broken.tick(column, word, rows);
            }
        }
    }

    pub(crate) fn count_broken_value(&mut self, column: usize, value: Option<&Value>, rows: u64) {
        if self.few.counts(column) {
            let word = word(self.seeds, column, &self.plan.columns[column], value);
            self.told.broken.tick(column, word, rows);
        }
    }

    /// Whether the next break is one of those that are kept.
    fn is_kept(&self) -> bool {
        self.told.breaks.len() < self.wanted.kept
    }

    /// Whether anybody still wants to hear of breaks.
    fn is_told(&self) -> bool {
        self.wanted.renderer.is_some() || self.is_kept()
    }

    /// Tells of the break that is shown.
    fn tell(&mut self) -> Result<(), Error> {
        self.told.count += 1;
        if let Some(renderer) = &self.wanted.renderer {
            renderer.render(&self.shown, self.told.rendered.get_or_insert_with(|| renderer.start()));
        }
        if self.is_kept() {
            self.told.breaks.push(self.shown.to_break(self.plan.measures.len()));
        }
        match &mut self.overflow {
            Some(take) if self.told.count >= BATCH_BREAKS => {
                take(std::mem::replace(&mut self.told, Told::new(self.plan, self.sources.len())))
            }
            _ => Ok(()),
        }
    }
}

/// An aggregate; a ratio without an end has so many digits at least.
fn show_aggregate(plan: &Plan, measure: &Measure, value: &Quantity, digits: usize) -> String {
    let column = measure.column.map(|column| &plan.columns[column]);
    match (value, column) {
        (Quantity::Number(number), Some(column))
            if matches!(measure.aggregate, Aggregate::Min | Aggregate::Max) =>
        {
            Value::Number(*number).show(column)
        }
        (value, _) => format!("{value:.digits$}"),
    }
}

/// A difference of numbers or, of dates and times, as a duration; `None` where a difference means nothing.
pub(crate) fn show_difference(
    measure: &Measure,
    kind: Kind,
    difference: &Quantity,
    signed: bool,
) -> Option<String> {
    let counts = matches!(measure.aggregate, Aggregate::Count | Aggregate::CountDistinct);
    if kind.is_temporal() && !counts {
        let seconds = difference.decimal()?;
        let duration = display_signed_duration(&seconds);
        return Some(if signed { duration } else { duration.trim_start_matches(['+', '-']).to_string() });
    }
    if kind == Kind::Boolean && !counts {
        return None;
    }
    Some(difference.to_string())
}

/// Holds values against a rule; text has no difference.
pub(super) fn judge(rule: &Rule, reference: Option<usize>, values: &[Option<Value>]) -> Outcome {
    if values.iter().flatten().any(|value| matches!(value, Value::Bytes(_))) {
        let apart = |held: usize| values.iter().position(|value| *value != values[held]);
        let pair = if let Some(reference) = reference {
            apart(reference).map(|other| (reference, other))
        } else {
            let null = values.iter().position(Option::is_none);
            let some = values.iter().position(Option::is_some);
            let by_null = null.zip(some).map(|(a, b)| (a.min(b), a.max(b)));
            by_null.or_else(|| apart(0).map(|other| (0, other)))
        };
        return Outcome { within: pair.is_none(), pair: pair.unwrap_or((0, 1)), difference: None };
    }
    let quantities: Vec<Option<Quantity>> =
        values.iter().map(|value| value.as_ref().and_then(Value::quantity)).collect();
    check(rule, reference, &quantities)
}
