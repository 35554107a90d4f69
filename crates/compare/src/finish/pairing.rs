//! Pairs the rows of two sides so that the total cost is least, and always in the same way.

/// For each row of the left side, the one of the right it is paired with; `cost[left][right]`.
///
/// As many pairs as the shorter side has rows, at the least total cost; among those, the left rows in order get the
/// earliest right rows possible.
pub(crate) fn pair(cost: &[Vec<u64>], rights: usize) -> Vec<Option<usize>> {
    let size = cost.len().max(rights);
    let at = |left: usize, right: usize| -> i64 {
        // Rows that do not exist cost nothing: how many are paired with one is given.
        cost.get(left).and_then(|row| row.get(right)).map_or(0, |cost| cost.cast_signed())
    };
    let (left_price, right_price, matching) = assign(size, at);
    let is_tight = |left: usize, right: usize| at(left, right) == left_price[left] + right_price[right];
    let earliest = earliest(size, is_tight, matching);
    (0..cost.len()).map(|left| Some(earliest[left]).filter(|right| *right < rights)).collect()
}

/// The Hungarian method: prices of both sides that no pair exceeds, and for each right the left it goes with.
fn assign(size: usize, cost: impl Fn(usize, usize) -> i64) -> (Vec<i64>, Vec<i64>, Vec<usize>) {
    // One more than the rows: index 0 stands for "nobody yet".
    let (mut left_price, mut right_price) = (vec![0; size + 1], vec![0; size + 1]);
    let mut left_of = vec![0; size + 1];
    for left in 1..=size {
        let mut least = vec![i64::MAX; size + 1];
        let mut before = vec![0; size + 1];
        let mut used = vec![false; size + 1];
        left_of[0] = left;
        let mut at = 0;
        while left_of[at] != 0 {
            used[at] = true;
            let (row, mut step, mut next) = (left_of[at], i64::MAX, 0);
            for right in 1..=size {
                if used[right] {
                    continue;
                }
                let reduced = cost(row - 1, right - 1) - left_price[row] - right_price[right];
                if reduced < least[right] {
                    least[right] = reduced;
                    before[right] = at;
                }
                if least[right] < step {
                    step = least[right];
                    next = right;
                }
            }
            for right in 0..=size {
                if used[right] {
                    left_price[left_of[right]] += step;
                    right_price[right] -= step;
                } else {
                    least[right] -= step;
                }
            }
            at = next;
        }
        while at != 0 {
            left_of[at] = left_of[before[at]];
            at = before[at];
        }
    }
    let matching = left_of[1..].iter().map(|left| left - 1).collect();
    (left_price.split_off(1), right_price.split_off(1), matching)
}

fn partner(left_of: &[Option<usize>], left: usize) -> usize {
    let partner = left_of.iter().position(|owner| *owner == Some(left));
    partner.expect("a perfect matching leaves no row alone")
}

/// Among the perfect matchings of tight pairs (they are the least-cost ones), the one in which the left rows in order
/// get the earliest right rows.
fn earliest(size: usize, is_tight: impl Fn(usize, usize) -> bool, left_of: Vec<usize>) -> Vec<usize> {
    let mut left_of: Vec<Option<usize>> = left_of.into_iter().map(Some).collect();
    let mut settled = vec![false; size];
    let mut chosen = Vec::with_capacity(size);
    for left in 0..size {
        let own = partner(&left_of, left);
        for right in 0..size {
            if settled[right] || !is_tight(left, right) {
                continue;
            }
            if right == own {
                break;
            }
            let mut attempt = left_of.clone();
            let displaced = attempt[right].replace(left);
            attempt[own] = None;
            let mut seen = settled.clone();
            seen[right] = true;
            if displaced.is_none_or(|displaced| rehouse(displaced, &is_tight, &mut attempt, &mut seen)) {
                left_of = attempt;
                break;
            }
        }
        let right = partner(&left_of, left);
        settled[right] = true;
        chosen.push(right);
    }
    chosen
}

/// Finds a place for a left row among those not seen, moving others if need be.
fn rehouse(
    left: usize,
    is_tight: &impl Fn(usize, usize) -> bool,
    left_of: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    for right in 0..left_of.len() {
        if seen[right] || !is_tight(left, right) {
            continue;
        }
        seen[right] = true;
        let is_free = match left_of[right] {
            None => true,
            Some(owner) => rehouse(owner, is_tight, left_of, seen),
        };
        if is_free {
            left_of[right] = Some(left);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::pair;

    /// Tries every assignment, in order of the left rows' choices, and keeps the first of the cheapest.
    fn by_trying(cost: &[Vec<u64>], rights: usize) -> Vec<Option<usize>> {
        fn go(
            cost: &[Vec<u64>],
            rights: usize,
            unpaired: usize,
            chosen: &mut Vec<Option<usize>>,
            best: &mut Option<(u64, Vec<Option<usize>>)>,
        ) {
            if chosen.len() == cost.len() {
                let total =
                    chosen.iter().enumerate().filter_map(|(left, right)| Some(cost[left][(*right)?])).sum();
                if best.as_ref().is_none_or(|(least, _)| total < *least) {
                    *best = Some((total, chosen.clone()));
                }
                return;
            }
            for right in 0..rights {
                if !chosen.contains(&Some(right)) {
                    chosen.push(Some(right));
                    go(cost, rights, unpaired, chosen, best);
                    chosen.pop();
                }
            }
            if unpaired > 0 {
                chosen.push(None);
                go(cost, rights, unpaired - 1, chosen, best);
                chosen.pop();
            }
        }
        let mut best = None;
        go(cost, rights, cost.len().saturating_sub(rights), &mut Vec::new(), &mut best);
        best.expect("there is always an assignment").1
    }

    #[test]
    fn pairs_are_the_cheapest_and_then_the_earliest() {
        let mut random = 42_u64;
        let mut next = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        for _ in 0..2000 {
            let (lefts, rights) = (1 + next(5) as usize, 1 + next(5) as usize);
            let costs = 1 + next(4);
            let cost: Vec<Vec<u64>> =
                (0..lefts).map(|_| (0..rights).map(|_| next(costs)).collect()).collect();
            assert_eq!(pair(&cost, rights), by_trying(&cost, rights), "{cost:?}");
        }
    }
}
