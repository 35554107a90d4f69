//! Which rows of a repeated key belong together.

use num_bigint::BigInt;

use super::Row;

/// Above so many rows left over in a source, rows are paired in order.
const MOST_ASSIGNED: usize = 64;

/// Tuples of one row per source: equal ones first, the rest with the fewest columns outside.
pub(super) fn tuples(
    sources: &[Vec<Row>],
    reference: Option<usize>,
    outside: impl Fn((usize, &Row), (usize, &Row)) -> usize,
) -> Vec<Vec<Option<Row>>> {
    let mut left: Vec<Vec<Row>> = sources.to_vec();
    for rows in &mut left {
        rows.sort();
    }
    let mut tuples = Vec::new();
    for row in left[0].clone() {
        let places: Option<Vec<usize>> =
            left.iter().map(|rows| rows.iter().position(|other| *other == row)).collect();
        if let Some(places) = places {
            tuples.push(left.iter_mut().zip(places).map(|(rows, place)| Some(rows.remove(place))).collect());
        }
    }
    let assigned = left.iter().all(|rows| rows.len() <= MOST_ASSIGNED);
    let first = reference.unwrap_or(0);
    let order = std::iter::once(first).chain((0..left.len()).filter(|&source| source != first));
    let mut open: Vec<(usize, Vec<Option<Row>>)> = Vec::new();
    for source in order {
        let rows = &left[source];
        let cost = |tuple: usize, row: usize| {
            let (first, tuple) = &open[tuple];
            outside((*first, tuple[*first].as_ref().expect("its first row")), (source, &rows[row]))
        };
        let chosen = if assigned { assign(open.len(), rows.len(), cost) } else { (0..open.len()).collect() };
        for (tuple, &row) in chosen.iter().enumerate() {
            open[tuple].1[source] = rows.get(row).cloned();
        }
        for (_, row) in rows.iter().enumerate().filter(|(index, _)| !chosen.contains(index)) {
            let mut tuple = vec![None; left.len()];
            tuple[source] = Some(row.clone());
            open.push((source, tuple));
        }
    }
    tuples.extend(open.into_iter().map(|(_, tuple)| tuple));
    tuples
}

/// The row for each tuple with the least total cost; of several, the one whose list of rows comes first.
///
/// A row number past the last is no row. The order is made part of the cost, in digits below those that count.
fn assign(tuples: usize, rows: usize, cost: impl Fn(usize, usize) -> usize) -> Vec<usize> {
    let size = tuples.max(rows);
    let base = BigInt::from(size + 1);
    let full = |tuple: usize, row: usize| {
        let outside = if tuple < tuples && row < rows { cost(tuple, row) } else { 0 };
        let place = if tuple < tuples {
            BigInt::from(row.min(rows)) * base.pow(u32::try_from(tuples - tuple).expect("few"))
        } else {
            BigInt::ZERO
        };
        BigInt::from(outside) * base.pow(u32::try_from(size + 2).expect("few")) + place
    };
    let costs: Vec<Vec<BigInt>> =
        (0..size).map(|tuple| (0..size).map(|row| full(tuple, row)).collect()).collect();
    cheapest(&costs).into_iter().take(tuples).collect()
}

/// The assignment of least cost in a square of costs, by shortest augmenting paths.
fn cheapest(costs: &[Vec<BigInt>]) -> Vec<usize> {
    let size = costs.len();
    let (mut above, mut beside) = (vec![BigInt::ZERO; size + 1], vec![BigInt::ZERO; size + 1]);
    let mut owner = vec![size; size + 1];
    for tuple in 0..size {
        owner[size] = tuple;
        let mut least: Vec<Option<BigInt>> = vec![None; size];
        let mut back = vec![size; size];
        let mut used = vec![false; size + 1];
        let mut column = size;
        while owner[column] != size || column == size {
            used[column] = true;
            let row = owner[column];
            for next in (0..size).filter(|&next| !used[next]) {
                let reduced = &costs[row][next] - &above[row] - &beside[next];
                if least[next].as_ref().is_none_or(|least| reduced < *least) {
                    least[next] = Some(reduced);
                    back[next] = column;
                }
            }
            let closest = (0..size)
                .filter(|&next| !used[next])
                .min_by_key(|&next| least[next].clone())
                .expect("a free column");
            let delta = least[closest].clone().expect("reached");
            for index in 0..=size {
                if used[index] {
                    above[owner[index]] += &delta;
                    beside[index] -= &delta;
                } else if let Some(least) = &mut least[index] {
                    *least -= &delta;
                }
            }
            column = closest;
        }
        while column != size {
            owner[column] = owner[back[column]];
            column = back[column];
        }
    }
    let mut chosen = vec![size; size];
    for column in 0..size {
        chosen[owner[column]] = column;
    }
    chosen
}
