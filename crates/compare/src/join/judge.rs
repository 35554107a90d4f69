//! Checks the measures of groups by what their records carry.

use crate::decode::fixed_number;
use crate::ingest::encode::{Shape, float_in, number_in, units_in};
use crate::ingest::record::Carry;
use crate::number::{Decimal, Number, Quantity};
use crate::plan::{Encoding, Plan};
use crate::spec::Rule;
use crate::tolerance::{FixedRule, FloatRule, check, effective_reference};

/// Checks the measures of groups by what their records carry.
pub(crate) struct Judge<'a> {
    plan: &'a Plan,
    shape: &'a Shape,
    carried: Vec<Carried>,
}

/// A measure that records carry.
struct Carried {
    measure: usize,
    slot: usize,
    carry: Carry,
    scale: u32,
    rule: Fast,
    /// Whether the largest and the smallest value decide, rather than a reference.
    is_spread: bool,
}

/// How close the measures of a group are, as far as records tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closeness {
    Same,
    /// Not the same, but every measure is within.
    Within,
    Outside,
}

/// A rule in the form that costs least for how its values are carried.
enum Fast {
    Same,
    Fixed(FixedRule),
    Float(FloatRule),
    Slow,
}

impl Carried {
    /// The number in a slot that carries one.
    fn number(&self, words: &[u32]) -> Number {
        match self.carry {
            Carry::Fixed => fixed_number(units_in(words), Encoding::Fixed { scale: self.scale }),
            Carry::Float => Decimal::from_f64(float_in(words)),
            _ => number_in(words),
        }
    }
}

impl<'a> Judge<'a> {
    pub(crate) fn new(plan: &'a Plan, shape: &'a Shape) -> Self {
        let carried = (plan.measures.iter().enumerate())
            .filter_map(|(index, measure)| {
                let (slot, carry) = shape.slot(index)?;
                let scale = match plan.columns[measure.column?].encoding {
                    Encoding::Fixed { scale } => scale,
                    _ => 0,
                };
                let rule = match (&measure.rule, carry) {
                    (Rule::Exact, _) => Fast::Same,
                    (rule, Carry::Fixed) => Fast::Fixed(FixedRule::new(rule, plan.reference, scale)),
                    (rule, Carry::Float) => Fast::Float(FloatRule::new(rule, plan.reference)),
                    _ => Fast::Slow,
                };
                let is_spread = effective_reference(&measure.rule, plan.reference).is_none();
                Some(Carried { measure: index, slot, carry, scale, rule, is_spread })
            })
            .collect();
        Self { plan, shape, carried }
    }

    /// How close the measures are, given one record from each source; what is digested must agree.
    pub(crate) fn closeness(&self, records: &[&[u32]]) -> Closeness {
        let layout = &self.shape.layout;
        let content = layout.content(records[0]);
        if records[1..].iter().all(|record| layout.content(record) == content) {
            return Closeness::Same;
        }
        let digests_differ = records[1..].iter().any(|record| layout.digests_differ(record, records[0]));
        if !digests_differ && self.carried.iter().all(|carried| self.within(carried, records)) {
            Closeness::Within
        } else {
            Closeness::Outside
        }
    }

    /// Takes note of the differences in a group that is within.
    pub(crate) fn measure(&self, records: &[&[u32]], largest: &mut [Largest]) {
        self.carried.iter().for_each(|it| self.offer(it, records, &mut largest[it.measure]));
    }

    /// Counts each measure that is outside, and takes note of all differences.
    pub(crate) fn count(&self, records: &[&[u32]], outside: &mut [u64], largest: &mut [Largest]) {
        for carried in &self.carried {
            outside[carried.measure] += u64::from(!self.within(carried, records));
        }
        self.measure(records, largest);
    }

    fn offer(&self, carried: &Carried, records: &[&[u32]], largest: &mut Largest) {
        let layout = &self.shape.layout;
        if records.iter().any(|record| layout.is_null(record, carried.slot)) {
            return;
        }
        let values = || records.iter().map(|record| layout.value(record, carried.slot));
        match carried.carry {
            Carry::Hash64 | Carry::Hash128 | Carry::Presence => {}
            // Of two values there is but one difference, whatever the rule; of more, the pair that decides counts.
            Carry::Fixed | Carry::Float | Carry::General if records.len() > 2 && !carried.is_spread => {
                let rule = &self.plan.measures[carried.measure].rule;
                let values: Vec<_> =
                    values().map(|words| Some(Quantity::Number(carried.number(words)))).collect();
                let outcome = check(rule, self.plan.reference, &values);
                outcome.difference.iter().for_each(|difference| largest.offer_difference(difference));
            }
            Carry::Fixed => {
                let units = || values().map(units_in);
                if let (Some(low), Some(high)) = (units().min(), units().max()) {
                    largest.offer_units(low, high, carried.scale);
                }
            }
            Carry::Float => {
                let floats = values().map(float_in);
                let start = (f64::INFINITY, f64::NEG_INFINITY);
                let (low, high) = floats.fold(start, |(low, high), it| (it.min(low), it.max(high)));
                if values().all(|words| float_in(words).is_finite()) {
                    largest.offer_floats(low, high);
                }
            }
            Carry::General => {
                let numbers = || values().map(number_in).map(Quantity::Number);
                // NaN and the infinities are at an end of the order, and have no difference.
                let ends = numbers().max().zip(numbers().min());
                let difference = ends.and_then(|(high, low)| high.minus(&low));
                difference.iter().for_each(|difference| largest.offer_difference(difference));
            }
        }
    }

    fn within(&self, carried: &Carried, records: &[&[u32]]) -> bool {
        let layout = &self.shape.layout;
        let nulls = records.iter().filter(|record| layout.is_null(record, carried.slot)).count();
        if nulls > 0 {
            return nulls == records.len();
        }
        let mut values = records.iter().map(|record| layout.value(record, carried.slot));
        let first = layout.value(records[0], carried.slot);
        if values.all(|value| value == first) {
            return true;
        }
        let values = records.iter().map(|record| layout.value(record, carried.slot));
        match &carried.rule {
            Fast::Same => false,
            Fast::Fixed(rule) => with_few(values.map(units_in), |values| rule.within(values)),
            Fast::Float(rule) => with_few(values.map(float_in), |values| rule.within(values)),
            Fast::Slow => {
                let values: Vec<_> = values.map(|words| Some(Quantity::Number(number_in(words)))).collect();
                check(&self.plan.measures[carried.measure].rule, self.plan.reference, &values).within
            }
        }
    }
}

/// Calls with the values as a slice, on the stack for as many sources as there usually are.
fn with_few<T: Copy + Default, R>(
    values: impl ExactSizeIterator<Item = T>,
    call: impl FnOnce(&[T]) -> R,
) -> R {
    let mut few = [T::default(); 8];
    let count = values.len();
    if count > few.len() {
        return call(&values.collect::<Vec<T>>());
    }
    few.iter_mut().zip(values).for_each(|(place, value)| *place = value);
    call(&few[..count])
}

/// The largest difference seen of one measure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Largest {
    /// Of a column with a fixed scale, in its units.
    units: u128,
    scale: u32,
    other: Option<Quantity>,
    /// What the largest difference of floats is at least.
    at_least: f64,
}

impl Largest {
    fn offer_units(&mut self, one: i64, other: i64, scale: u32) {
        self.units = self.units.max(u128::from(one.abs_diff(other)));
        self.scale = scale;
    }

    /// Offers finite floats; their decimals are looked at only where they may be further apart than any before.
    fn offer_floats(&mut self, low: f64, high: f64) {
        let apart = high - low;
        // As in `FloatRule`, four times what the difference of the decimals can be off by.
        let margin = (low.abs() + high.abs()) * (4.0 * f64::EPSILON) + f64::MIN_POSITIVE;
        if apart + margin < self.at_least {
            return;
        }
        self.at_least = self.at_least.max(apart - margin);
        let difference = Quantity::Number(high.into()).minus(&Quantity::Number(low.into()));
        difference.iter().for_each(|difference| self.offer_difference(difference));
    }

    pub(crate) fn offer_difference(&mut self, difference: &Quantity) {
        let difference = difference.abs();
        if self.other.as_ref().is_none_or(|largest| difference > *largest) {
            self.other = Some(difference);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.units = self.units.max(other.units);
        self.scale = self.scale.max(other.scale);
        other.other.iter().for_each(|difference| self.offer_difference(difference));
    }

    /// `None` if no two values had a difference.
    pub(crate) fn difference(&self) -> Option<Quantity> {
        let units =
            i128::try_from(self.units).ok().and_then(|units| Decimal::new(units, -self.scale.cast_signed()));
        let units = units.filter(|units| !units.is_zero()).map(Quantity::from);
        units.max(self.other.clone())
    }
}
