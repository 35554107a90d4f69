//! What it costs to pair rows of one key: the columns that would be outside.

use std::collections::HashMap;

use crate::finish::decide::judge;
use crate::plan::Plan;
use crate::reread::entry::{Entry, measured};
use crate::spec::{Base, Rule};
use crate::value::Value;

/// How many columns are outside, of each row that is held and each that may be paired with it.
pub(super) fn costs(plan: &Plan, held: &[&Entry<'_>], rows: &[Entry<'_>]) -> Vec<Vec<u64>> {
    let mut costs = vec![vec![0; rows.len()]; held.len()];
    let held_cells: Vec<&[u8]> = held.iter().flat_map(|row| row.by_measure(plan)).collect();
    let row_cells: Vec<&[u8]> = rows.iter().flat_map(|row| row.by_measure(plan)).collect();
    let mut numbers = HashMap::new();
    for (index, measure) in plan.measures.iter().enumerate() {
        let lefts = held_cells.iter().skip(index).step_by(plan.measures.len());
        let rights = row_cells.iter().skip(index).step_by(plan.measures.len());
        if measure.rule == Rule::Exact {
            // Numbers are compared for each pair, and bytes only once for each row.
            numbers.clear();
            let mut number = |cell| -> usize {
                let next = numbers.len();
                *numbers.entry(cell).or_insert(next)
            };
            let rights: Vec<usize> = rights.map(|cell| number(*cell)).collect();
            for (costs, left) in costs.iter_mut().zip(lefts.map(|cell| number(*cell))) {
                costs.iter_mut().zip(&rights).for_each(|(cost, right)| *cost += u64::from(left != *right));
            }
            continue;
        }
        let read = |cell: &&[u8]| measured(plan, index, cell);
        let rights: Vec<Option<Value>> = rights.map(read).collect();
        for ((costs, left), held) in costs.iter_mut().zip(lefts.map(read)).zip(held) {
            for ((cost, right), row) in costs.iter_mut().zip(&rights).zip(rows) {
                let rule = for_pair(&measure.rule, (held.source(), row.source()));
                let outcome = judge(&rule, Some(0), &[left.clone(), right.clone()]);
                *cost += u64::from(!outcome.within);
            }
        }
    }
    costs
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
