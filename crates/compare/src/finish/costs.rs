//! What it costs to pair rows of one key: the columns that would be outside.

use crate::finish::decide::judge;
use crate::plan::Plan;
use crate::reread::entry::{Entry, measured};
use crate::spec::{Base, Rule};
use crate::value::Value;

/// How many columns are outside, of each row that is held and each that may be paired with it.
pub(super) fn costs(plan: &Plan, held: &[&Entry<'_>], rows: &[Entry<'_>]) -> Vec<Vec<u64>> {
    let mut costs = vec![vec![0; rows.len()]; held.len()];
    let held_cells: Vec<Vec<&[u8]>> = held.iter().map(|row| row.by_measure(plan).collect()).collect();
    let row_cells: Vec<Vec<&[u8]>> = rows.iter().map(|row| row.by_measure(plan).collect()).collect();
    for (index, measure) in plan.measures.iter().enumerate() {
        // Each is read once, whatever the number of pairs.
        let read = |cells: &[Vec<&[u8]>]| -> Vec<Option<Value>> {
            cells.iter().map(|cells| measured(plan, index, cells[index])).collect()
        };
        let (lefts, rights) = (read(&held_cells), read(&row_cells));
        if measure.rule == Rule::Exact {
            let (lefts, rights) = numbered(&lefts, &rights);
            for (costs, left) in costs.iter_mut().zip(lefts) {
                costs.iter_mut().zip(&rights).for_each(|(cost, right)| *cost += u64::from(left != *right));
            }
            continue;
        }
        for ((costs, left), held) in costs.iter_mut().zip(lefts).zip(held) {
            for ((cost, right), row) in costs.iter_mut().zip(&rights).zip(rows) {
                let rule = for_pair(&measure.rule, (held.source(), row.source()));
                let outcome = judge(&rule, Some(0), &[left.clone(), right.clone()]);
                *cost += u64::from(!outcome.within);
            }
        }
    }
    costs
}

/// A number for each value, which equal values share.
fn numbered(lefts: &[Option<Value>], rights: &[Option<Value>]) -> (Vec<usize>, Vec<usize>) {
    let mut values: Vec<&Option<Value>> = lefts.iter().chain(rights).collect();
    values.sort_unstable();
    values.dedup();
    let number = |value: &Option<Value>| values.partition_point(|known| *known < value);
    (lefts.iter().map(number).collect(), rights.iter().map(number).collect())
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
