//! Turns the rows of a batch into records.

use arrow_array::RecordBatch;

use crate::decode::{Decoded, Misfit, Values, decode};
use crate::error::Error;
use crate::fingerprint::{Seeds, canonical_bits, number_parts};
use crate::ingest::record::{Carry, Layout, get_u64, get_u128, put_u64, put_u128};
use crate::number::{Decimal, Number};
use crate::plan::{Encoding as ColumnEncoding, Plan};
use crate::spec::Aggregate;
use crate::spill::partition::Scatter;
use crate::temporal::OrderEvidence;

/// Each word for a long text is carried by every row, so there are few.
pub(crate) const MOST_LONG: usize = 2;

/// What of each row goes into its record.
pub(crate) struct Shape {
    pub(crate) layout: Layout,
    /// Columns that the digest covers.
    digested: Vec<usize>,
    /// The column of each carried slot of the layout.
    carried: Vec<usize>,
    /// Where each measure finds its column among the carried; `None` when digested or `count(*)`.
    slots: Vec<Option<usize>>,
    /// Measures of long text, which have a word of their own so that their text need not be read again.
    pub(crate) long: Vec<usize>,
}

/// Which exact columns have a word of their own in a record; the digest covers the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnWords {
    All,
    LongText,
    None,
}

impl Shape {
    pub(crate) fn new(plan: &Plan, own_words: OwnWords) -> Self {
        let mut shape = Self {
            layout: Layout::new(false, Vec::new()),
            digested: Vec::new(),
            carried: Vec::new(),
            slots: Vec::new(),
            long: Vec::new(),
        };
        let mut carries = Vec::new();
        for (index, measure) in plan.measures.iter().enumerate() {
            let Some(column) = measure.column else {
                shape.slots.push(None);
                continue;
            };
            let may_be_long = own_words == OwnWords::LongText && shape.long.len() < MOST_LONG;
            let is_long = may_be_long && plan.is_long(measure);
            if is_long {
                shape.long.push(index);
            }
            if plan.is_digested(measure) && own_words != OwnWords::All && !is_long {
                shape.digested.push(column);
                shape.slots.push(None);
                continue;
            }
            let carry = carry(measure.aggregate, plan.columns[column].encoding);
            let known =
                (0..carries.len()).find(|slot| shape.carried[*slot] == column && carries[*slot] == carry);
            shape.slots.push(Some(known.unwrap_or_else(|| {
                shape.carried.push(column);
                carries.push(carry);
                carries.len() - 1
            })));
        }
        shape.layout = Layout::new(!shape.digested.is_empty(), carries);
        shape
    }

    /// The word of a measure in a record that carries its hash, `None` for NULL.
    pub(crate) fn word(&self, measure: usize, record: &[u32]) -> Option<u64> {
        let slot = self.slots[measure].filter(|slot| !self.layout.is_null(record, *slot))?;
        Some(get_u64(self.layout.value(record, slot), 0))
    }

    /// Where a measure is carried, and how.
    pub(crate) fn slot(&self, measure: usize) -> Option<(usize, Carry)> {
        self.slots[measure].map(|slot| (slot, self.layout.carried()[slot]))
    }
}

fn carry(aggregate: Aggregate, encoding: ColumnEncoding) -> Carry {
    match (aggregate, encoding) {
        (Aggregate::Count, _) => Carry::Presence,
        (Aggregate::CountDistinct, _) => Carry::Hash128,
        (_, ColumnEncoding::Fixed { .. }) => Carry::Fixed,
        (_, ColumnEncoding::Float) => Carry::Float,
        (_, ColumnEncoding::General) => Carry::General,
        (_, ColumnEncoding::Bytes) => Carry::Hash64,
    }
}

/// One thread's buffers for turning batches into records.
#[derive(Default)]
pub(crate) struct Encoder {
    fingerprints: Vec<u128>,
    digests: Vec<u64>,
    record: Vec<u32>,
    /// Rows in the order in which their records are written.
    order: Vec<u32>,
    /// Hashes of the carried columns of bytes, by slot.
    words: Vec<Vec<u64>>,
    /// Rows with a NULL in the key.
    pub(crate) null_keys: u64,
}

/// The columns of a batch, read as planned.
///
/// # Errors
/// The column that does not fit, and how.
pub(crate) fn decode_batch(
    plan: &Plan,
    source: usize,
    batch: &RecordBatch,
    evidence: &mut [OrderEvidence],
) -> Result<Vec<Decoded>, (usize, Misfit)> {
    (plan.columns.iter().zip(evidence).enumerate())
        .map(|(index, (column, evidence))| {
            decode(column, source, batch.column(index), evidence).map_err(|misfit| (index, misfit))
        })
        .collect()
}

/// What all batches are encoded by.
pub(crate) struct Encoding<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) shape: &'a Shape,
    pub(crate) seeds: &'a Seeds,
}

impl Encoder {
    /// Puts a record for each row into its partition, with what `locator` says of the row's number.
    pub(crate) fn encode(
        &mut self,
        by: &Encoding<'_>,
        columns: &[Decoded],
        rows: usize,
        locator: impl Fn(u32) -> u32,
        scatter: &mut Scatter<'_>,
    ) -> Result<(), Error> {
        let Encoding { plan, shape, seeds } = by;
        self.hash(by, columns, rows);
        self.null_keys += null_keys(plan, columns, rows);
        self.hash_carried(by, columns, rows);
        self.record.resize(shape.layout.stride(), 0);
        scatter.order(&self.fingerprints, &mut self.order);
        for &nth in &self.order {
            let row = nth as usize;
            let fingerprint = self.fingerprints[row];
            shape.layout.start(&mut self.record, fingerprint, locator(nth), self.digests[row]);
            for (slot, &column) in shape.carried.iter().enumerate() {
                if columns[column].is_null(row) {
                    continue;
                }
                match self.words[slot].get(row) {
                    Some(word) => put_u64(shape.layout.slot(&mut self.record, slot), 0, *word),
                    None => write(shape, seeds, slot, column, &columns[column], row, &mut self.record),
                }
            }
            scatter.push(fingerprint, &self.record)?;
        }
        Ok(())
    }

    /// Hashes the carried columns that are hashed; of the others nothing is kept.
    fn hash_carried(&mut self, by: &Encoding<'_>, columns: &[Decoded], rows: usize) {
        self.words.resize_with(by.shape.carried.len(), Vec::new);
        let slots = by.shape.carried.iter().zip(by.shape.layout.carried());
        for ((column, carry), words) in slots.zip(&mut self.words) {
            words.clear();
            if *carry == Carry::Hash64 {
                by.seeds.words(*column, &columns[*column], rows, |_, word| words.push(word));
            }
        }
    }

    /// The fingerprints and digests of the rows encoded last.
    pub(crate) fn hashes(&self) -> (&[u128], &[u64]) {
        (&self.fingerprints, &self.digests)
    }

    /// Computes the fingerprints and digests of rows.
    pub(crate) fn hash(&mut self, by: &Encoding<'_>, columns: &[Decoded], rows: usize) {
        let Encoding { plan, shape, seeds } = by;
        seeds.fingerprints(&plan.key, columns, rows, &mut self.fingerprints);
        self.digests.clear();
        self.digests.resize(rows, 0);
        for &column in &shape.digested {
            // A sum of independently keyed words: if any value differs, the sums agree by chance only, 1 in 2^64.
            seeds.words(column, &columns[column], rows, |row, word| {
                self.digests[row] = self.digests[row].wrapping_add(word);
            });
        }
    }
}

/// Rows with a NULL in the key.
fn null_keys(plan: &Plan, columns: &[Decoded], rows: usize) -> u64 {
    let parts = || plan.key.iter().map(|part| &columns[*part]);
    if parts().all(|part| part.nulls.is_none() && !matches!(part.values, Values::Null)) {
        return 0;
    }
    (0..rows).filter(|row| parts().any(|part| part.is_null(*row))).count() as u64
}

fn write(
    shape: &Shape,
    seeds: &Seeds,
    slot: usize,
    column: usize,
    decoded: &Decoded,
    row: usize,
    record: &mut [u32],
) {
    let carry = shape.layout.carried()[slot];
    let words = shape.layout.slot(record, slot);
    match (carry, &decoded.values) {
        (Carry::Presence, _) | (_, Values::Null) => {}
        (Carry::Hash128, _) => put_u128(words, seeds.long_word(column, decoded, row)),
        (_, Values::Fixed(units)) => put_u64(words, 0, units[row].cast_unsigned()),
        (_, Values::Float(floats)) => put_u64(words, 0, canonical_bits(floats[row])),
        (_, Values::General(numbers)) => {
            let (mantissa, exponent) = number_parts(numbers[row]);
            put_u128(words, mantissa.cast_unsigned());
            words[4] = exponent.cast_unsigned();
        }
        (_, Values::Bytes(_)) => unreachable!("columns of bytes are hashed as a whole"),
    }
}

/// The units in a slot of [`Carry::Fixed`].
pub(crate) fn units_in(words: &[u32]) -> i64 {
    get_u64(words, 0).cast_signed()
}

/// The float in a slot of [`Carry::Float`].
pub(crate) fn float_in(words: &[u32]) -> f64 {
    f64::from_bits(get_u64(words, 0))
}

/// The number in a slot of [`Carry::General`].
pub(crate) fn number_in(words: &[u32]) -> Number {
    let mantissa = get_u128(words).cast_signed();
    match (words[4].cast_signed(), mantissa) {
        (i32::MAX, 0) => Number::NaN,
        (i32::MAX, 1) => Number::Infinity,
        (i32::MAX, _) => Number::NegInfinity,
        (exponent, _) => Decimal::new(mantissa, exponent).map_or(Number::NaN, Number::Finite),
    }
}
