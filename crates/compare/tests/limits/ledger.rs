//! Two tables of transactions, the second with known differences.

use std::sync::Arc;

use arrow_array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch, StringArray, UInt32Array};
use arrow_select::take::take_record_batch;

/// Rows of transactions: `id`, an `amount` in cents and a `note`.
pub(crate) fn ledger(rows: impl Iterator<Item = (i64, i128, Option<String>)>) -> RecordBatch {
    let (mut ids, mut cents, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for (id, amount, note) in rows {
        ids.push(id);
        cents.push(amount);
        notes.push(note);
    }
    let amounts = Decimal128Array::from(cents).with_precision_and_scale(18, 2).expect("a decimal type");
    let columns: [(&str, ArrayRef); 3] = [
        ("id", Arc::new(Int64Array::from(ids))),
        ("amount", Arc::new(amounts)),
        ("note", Arc::new(StringArray::from(notes))),
    ];
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

/// Two sides of so many transactions, each with an id of its own: every thousandth has another amount, every 1,500th is absent
/// from the second side, and every 2,000th has another note.
pub(crate) fn sides(rows: i64) -> [RecordBatch; 2] {
    sides_with_ids(rows, |row| row)
}

/// The same with other ids.
pub(crate) fn sides_with_ids(rows: i64, id: fn(i64) -> i64) -> [RecordBatch; 2] {
    let side = |other: bool| {
        let present = (0..rows).filter(move |row| !other || row % 1_500 != 7);
        ledger(present.map(move |row| {
            let cents = i128::from(row * 7 % 100_000) + i128::from(other && row % 1_000 == 3);
            let mark = if other && row % 2_000 == 11 { "changed" } else { "note" };
            (id(row), cents, (row % 16 != 0).then(|| format!("{mark} {}", row % 97)))
        }))
    };
    [side(false), side(true)]
}

/// The same rows in another order, the same for the same step.
pub(crate) fn shuffled(batch: &RecordBatch, step: u64) -> RecordBatch {
    let rows = batch.num_rows() as u64;
    let order = (0..rows).map(|row| (row.wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ step), row));
    let mut order: Vec<(u64, u64)> = order.collect();
    order.sort_unstable();
    let order: UInt32Array = order.into_iter().map(|(_, row)| u32::try_from(row).ok()).collect();
    take_record_batch(batch, &order).expect("all rows")
}
