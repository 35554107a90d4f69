//! Decides groups by their values, and tells of those that break.

use crate::BreakSink;
use crate::census::Census;
use crate::entry::{Entry, Purpose};
use crate::error::Error;
use crate::fingerprint::Seeds;
use crate::join::Tally;
use crate::kind::Kind;
use crate::number::Quantity;
use crate::pairing::pair;
use crate::plan::{Measure, Plan};
use crate::report::{Break, BreakHeader, Cell, Outside};
use crate::rule::display_signed_duration;
use crate::spec::{Aggregate, Base, Rule};
use crate::tolerance::{Outcome, check};
use crate::value::{Value, word};

/// With more rows of one key than this in a source, finding the best pairs costs too much.
const MOST_PAIRED: usize = 64;

/// Decides groups by their values.
pub(crate) struct Decider<'a, 'b> {
    pub(crate) plan: &'a Plan,
    pub(crate) seeds: &'a Seeds,
    pub(crate) sources: usize,
    pub(crate) tally: &'a mut Tally,
    pub(crate) census: &'a mut Census,
    pub(crate) sink: Option<BreakSink<'b>>,
    pub(crate) header: BreakHeader,
    pub(crate) limit: usize,
    /// Measures whose values are words in lean entries.
    pub(crate) long: &'a [usize],
    pub(crate) breaks: Vec<Break>,
    /// Rows of those breaks whose long texts are still to be read: break, source and locator.
    pub(crate) pending: Vec<(usize, usize, u32)>,
}

/// Rows paired with each other, at most one per source.
type Tuple = Vec<Option<Entry>>;

impl Decider<'_, '_> {
    /// Pairs the rows that are left of a key, given per source in the order of their values, and decides the pairs.
    pub(crate) fn rows(&mut self, left: Vec<Vec<(Entry, u64)>>) -> Result<(), Error> {
        let total = |rows: &[(Entry, u64)]| rows.iter().map(|(_, count)| *count).sum::<u64>();
        let few = left.iter().all(|rows| total(rows) <= MOST_PAIRED as u64);
        let expand = |rows: Vec<(Entry, u64)>| {
            rows.into_iter().flat_map(|(entry, count)| std::iter::repeat_n(entry, count as usize))
        };
        if !few {
            let mut sources: Vec<_> = left.into_iter().map(expand).collect();
            loop {
                let tuple: Tuple = sources.iter_mut().map(Iterator::next).collect();
                if tuple.iter().all(Option::is_none) {
                    return Ok(());
                }
                self.tuple(&tuple)?;
            }
        }
        let mut left: Vec<Vec<Entry>> = left.into_iter().map(|rows| expand(rows).collect()).collect();
        let first = self.plan.reference.unwrap_or(0);
        let others = (0..self.sources).filter(|source| *source != first);
        let mut tuples: Vec<Tuple> = Vec::new();
        for source in std::iter::once(first).chain(others) {
            self.assign(&mut tuples, source, std::mem::take(&mut left[source]), first);
        }
        tuples.iter().try_for_each(|tuple| self.tuple(tuple))
    }

    /// Adds the rows of one more source to the tuples, with the fewest columns outside.
    fn assign(&self, tuples: &mut Vec<Tuple>, source: usize, rows: Vec<Entry>, first: usize) {
        let cost = |tuple: &Tuple, row: &Entry| {
            // The first row of a tuple is the reference's, or that of the lowest source.
            let held = tuple[first].as_ref().or_else(|| tuple.iter().flatten().next());
            held.map_or(0, |held| self.differences(held, row))
        };
        let costs: Vec<Vec<u64>> =
            tuples.iter().map(|tuple| rows.iter().map(|row| cost(tuple, row)).collect()).collect();
        let pairs = if rows.is_empty() { Vec::new() } else { pair(&costs, rows.len()) };
        let mut rows: Vec<Option<Entry>> = rows.into_iter().map(Some).collect();
        for (tuple, row) in tuples.iter_mut().zip(pairs) {
            tuple[source] = row.and_then(|row| rows[row].take());
        }
        for row in rows.into_iter().flatten() {
            let mut tuple: Tuple = vec![None; self.sources];
            tuple[source] = Some(row);
            tuples.push(tuple);
        }
    }

    /// How many columns of two rows are outside.
    fn differences(&self, held: &Entry, row: &Entry) -> u64 {
        if held.cells() == row.cells() {
            return 0;
        }
        let (sources, held, row) =
            ((held.source(), row.source()), held.values(self.plan), row.values(self.plan));
        let outside =
            self.plan.measures.iter().zip(held.into_iter().zip(row)).filter(|(measure, (held, row))| {
                let values = [held.clone(), row.clone()];
                let rule = for_pair(&measure.rule, sources);
                !judge(&rule, Some(0), &values).within
            });
        outside.count() as u64
    }

    fn tuple(&mut self, tuple: &Tuple) -> Result<(), Error> {
        let present: Vec<bool> = tuple.iter().map(Option::is_some).collect();
        let Some(some) = tuple.iter().flatten().next() else {
            return Ok(());
        };
        let everywhere = present.iter().all(|present| *present);
        let values: Vec<Option<Vec<Option<Value>>>> =
            tuple.iter().map(|row| row.as_ref().map(|row| row.values(self.plan))).collect();
        let mut outcomes: Vec<Option<Outcome>> = vec![None; self.plan.measures.len()];
        if everywhere {
            for (index, measure) in self.plan.measures.iter().enumerate() {
                let cell = || values.iter().flatten().map(|row| &row[index]);
                if cell().skip(1).zip(cell()).all(|(one, other)| one == other) {
                    continue;
                }
                let values: Vec<Option<Value>> = cell().cloned().collect();
                let outcome = judge(&measure.rule, self.plan.reference, &values);
                outcomes[index] = (!outcome.within).then_some(outcome);
            }
            if outcomes.iter().all(Option::is_none) {
                self.tally.matched += 1;
                return Ok(());
            }
        }
        if some.purpose() != Purpose::List {
            self.count(&present, &outcomes);
            for (row, values) in tuple.iter().flatten().zip(values.iter().flatten()) {
                self.tally.broken_rows += 1;
                self.count_broken(row, values);
            }
        }
        if !self.is_told() {
            return Ok(());
        }
        let shown: Vec<Option<Vec<Option<String>>>> = tuple
            .iter()
            .zip(&values)
            .map(|(row, values)| Some(row.as_ref()?.shown(self.plan, values.as_ref()?)))
            .collect();
        let cells = (self.plan.measures.iter().zip(outcomes).enumerate())
            .map(|(index, (measure, outcome))| Cell {
                values: shown.iter().map(|row| row.as_ref().map(|row| row[index].clone())).collect(),
                outside: outcome.map(|outcome| self.outside(measure, &outcome)),
            })
            .collect();
        if some.purpose() == Purpose::DecideLean {
            let rows = tuple.iter().flatten().map(|row| (self.breaks.len(), row.source(), row.locator()));
            self.pending.extend(rows);
        }
        self.tell(Break { key: self.shown_key(&some.key_values(self.plan)), present, cells })
    }

    /// Decides a group by its aggregates, by source; nothing is counted if it was before.
    pub(crate) fn aggregates(
        &mut self,
        key: Vec<Option<String>>,
        by_source: &[Option<Vec<Option<Quantity>>>],
        counted: bool,
    ) -> Result<bool, Error> {
        let present: Vec<bool> = by_source.iter().map(Option::is_some).collect();
        let mut outcomes: Vec<Option<Outcome>> = vec![None; self.plan.measures.len()];
        if present.iter().all(|present| *present) {
            for (index, measure) in self.plan.measures.iter().enumerate() {
                let values: Vec<Option<Quantity>> =
                    by_source.iter().flatten().map(|values| values[index].clone()).collect();
                let outcome = check(&measure.rule, self.plan.reference, &values);
                outcomes[index] = (!outcome.within).then_some(outcome);
            }
            if outcomes.iter().all(Option::is_none) {
                self.tally.matched += u64::from(!counted);
                return Ok(false);
            }
        }
        if !counted {
            self.count(&present, &outcomes);
        }
        let cells = (self.plan.measures.iter().zip(outcomes).enumerate())
            .map(|(index, (measure, outcome))| Cell {
                values: by_source
                    .iter()
                    .map(|values| values.as_ref().map(|values| self.shown(measure, values[index].as_ref())))
                    .collect(),
                outside: outcome.map(|outcome| self.outside(measure, &outcome)),
            })
            .collect();
        self.tell(Break { key, present, cells })?;
        Ok(true)
    }

    fn shown(&self, measure: &Measure, value: Option<&Quantity>) -> Option<String> {
        let column = measure.column.map(|column| &self.plan.columns[column]);
        match (value?, column) {
            (Quantity::Number(number), Some(column))
                if matches!(measure.aggregate, Aggregate::Min | Aggregate::Max) =>
            {
                Some(Value::Number(*number).show(column))
            }
            (value, _) => Some(value.to_string()),
        }
    }

    /// The key as reports show it.
    pub(crate) fn shown_key(&self, key: &[Option<Value>]) -> Vec<Option<String>> {
        let columns = self.plan.key.iter().map(|part| &self.plan.columns[*part]);
        columns.zip(key).map(|(column, value)| value.as_ref().map(|value| value.show(column))).collect()
    }

    fn count(&mut self, present: &[bool], outcomes: &[Option<Outcome>]) {
        if present.contains(&false) {
            self.tally.unmatched_groups += 1;
            let counts = self.tally.unmatched_by_source.iter_mut().zip(present);
            counts.for_each(|(count, present)| *count += u64::from(*present));
            return;
        }
        self.tally.outside_groups += 1;
        for (measure, outcome) in outcomes.iter().enumerate() {
            let Some(outcome) = outcome else { continue };
            self.tally.outside[measure] += 1;
            let difference = outcome.difference.iter();
            difference.for_each(|it| self.tally.largest[measure].offer_difference(it));
        }
    }

    fn count_broken(&mut self, row: &Entry, values: &[Option<Value>]) {
        if self.plan.key.iter().any(|part| self.census.counts(*part)) {
            for (part, value) in self.plan.key.iter().zip(row.key_values(self.plan)) {
                self.count_broken_value(*part, value.as_ref(), 1);
            }
        }
        let lean = row.purpose() == Purpose::DecideLean;
        for (index, value) in values.iter().enumerate() {
            let measure = &self.plan.measures[index];
            let Some(column) = measure.column.filter(|column| !self.plan.key.contains(column)) else {
                continue;
            };
            match value {
                Some(Value::Bytes(word)) if lean && self.long.contains(&index) => {
                    let word = word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
                    self.census.count_broken(column, word, 1);
                }
                value => self.count_broken_value(column, value.as_ref(), 1),
            }
        }
    }

    pub(crate) fn count_broken_value(&mut self, column: usize, value: Option<&Value>, rows: u64) {
        if self.census.counts(column) {
            let word = word(self.seeds, column, &self.plan.columns[column], value);
            self.census.count_broken(column, word, rows);
        }
    }

    fn outside(&self, measure: &Measure, outcome: &Outcome) -> Outside {
        let kind = measure.column.map_or(Kind::Number, |column| self.plan.columns[column].kind);
        let difference = outcome.difference.as_ref().and_then(|it| show_difference(measure, kind, it, true));
        Outside { pair: outcome.pair, difference }
    }

    /// Whether anybody still wants to hear of breaks.
    fn is_told(&self) -> bool {
        self.sink.is_some() || self.breaks.len() < self.limit
    }

    fn tell(&mut self, broken: Break) -> Result<(), Error> {
        if let Some(sink) = &mut self.sink {
            sink(&self.header, &broken).map_err(Error::Breaks)?;
        }
        if self.breaks.len() < self.limit {
            self.breaks.push(broken);
        }
        Ok(())
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

/// A named base stands for itself only when its source is one of the two; otherwise the larger value does.
fn for_pair(rule: &Rule, sources: (usize, usize)) -> Rule {
    match rule {
        Rule::Percentage { value, base: Base::Source(source) } => {
            let base = match *source {
                source if source == sources.0 => Base::Source(0),
                source if source == sources.1 => Base::Source(1),
                _ => Base::Larger,
            };
            Rule::Percentage { value: *value, base }
        }
        rule => rule.clone(),
    }
}

/// Holds values against a rule; text has no difference.
fn judge(rule: &Rule, reference: Option<usize>, values: &[Option<Value>]) -> Outcome {
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
