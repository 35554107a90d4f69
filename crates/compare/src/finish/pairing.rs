//! Pairs the rows of two sides so that the total cost is least, and always in the same way.

/// The most rows that a side may have, so that a set of them is the bits of a word.
pub(crate) const MOST_ROWS: usize = u64::BITS as usize;

const NOBODY: usize = usize::MAX;

/// For each row of the left side, the one of the right it is paired with; `cost[left][right]`.
///
/// As many pairs as the shorter side has rows, at the least total cost; among those, the left rows in order get the
/// earliest right rows possible.
pub(crate) fn pair(cost: &[Vec<u64>], rights: usize) -> Vec<Option<usize>> {
    let size = cost.len().max(rights);
    debug_assert!(size <= MOST_ROWS, "the rows of a side are the bits of a word");
    // Rows that do not exist cost nothing: how many are paired with one is given.
    let mut square = vec![0; size * size];
    for (row, cost) in square.chunks_mut(size).zip(cost) {
        row.iter_mut().zip(cost).for_each(|(cell, cost)| *cell = cost.cast_signed());
    }
    let assignment = Assignment::new(size, &square);
    let tight = assignment.tight();
    let mut places = Places::new(&tight, assignment.left_of);
    (0..size).for_each(|left| places.settle(left));
    places.right_of.into_iter().take(cost.len()).map(|right| Some(right).filter(|it| *it < rights)).collect()
}

/// The Hungarian method: prices of both sides that no pair exceeds, and pairs that do not fall short of them.
struct Assignment<'a> {
    size: usize,
    cost: &'a [i64],
    left_price: Vec<i64>,
    right_price: Vec<i64>,
    left_of: Vec<usize>,
}

impl<'a> Assignment<'a> {
    fn new(size: usize, cost: &'a [i64]) -> Self {
        let left_price: Vec<i64> =
            cost.chunks(size).map(|row| row.iter().copied().min().unwrap_or(0)).collect();
        let mut right_price = vec![i64::MAX; size];
        for (row, price) in cost.chunks(size).zip(&left_price) {
            right_price.iter_mut().zip(row).for_each(|(least, cost)| *least = (*least).min(cost - price));
        }
        let mut new = Self { size, cost, left_price, right_price, left_of: vec![NOBODY; size] };
        // At the prices that rows ask for on their own, most are paired already.
        let mut alone = Vec::new();
        for left in 0..size {
            match (0..size).find(|&right| new.left_of[right] == NOBODY && new.excess(left, right) == 0) {
                Some(right) => new.left_of[right] = left,
                None => alone.push(left),
            }
        }
        alone.into_iter().for_each(|left| new.add(left));
        new
    }

    /// What a pair costs beyond the prices.
    fn excess(&self, left: usize, right: usize) -> i64 {
        self.cost[left * self.size + right] - self.left_price[left] - self.right_price[right]
    }

    /// Pairs one more row, moving others and raising prices as far as need be.
    fn add(&mut self, added: usize) {
        let size = self.size;
        let (mut least, mut before, mut used) = (vec![i64::MAX; size], vec![NOBODY; size], vec![false; size]);
        let (mut left, mut at) = (added, NOBODY);
        loop {
            let (mut step, mut next) = (i64::MAX, NOBODY);
            for right in (0..size).filter(|right| !used[*right]) {
                let excess = self.excess(left, right);
                if excess < least[right] {
                    (least[right], before[right]) = (excess, at);
                }
                if least[right] < step {
                    (step, next) = (least[right], right);
                }
            }
            self.left_price[added] += step;
            for right in 0..size {
                if used[right] {
                    self.left_price[self.left_of[right]] += step;
                    self.right_price[right] -= step;
                } else {
                    least[right] -= step;
                }
            }
            used[next] = true;
            (left, at) = (self.left_of[next], next);
            if left == NOBODY {
                break;
            }
        }
        while before[at] != NOBODY {
            self.left_of[at] = self.left_of[before[at]];
            at = before[at];
        }
        self.left_of[at] = added;
    }

    /// For each left row the right rows at no more than the prices: the least-cost pairings are those of such pairs only.
    fn tight(&self) -> Vec<u64> {
        let is_tight = |left: usize, right: usize| u64::from(self.excess(left, right) == 0) << right;
        (0..self.size)
            .map(|left| (0..self.size).fold(0, |rights, right| rights | is_tight(left, right)))
            .collect()
    }
}

/// Which right row each left one has, of those it may have.
struct Places<'a> {
    tight: &'a [u64],
    left_of: Vec<usize>,
    right_of: Vec<usize>,
    /// Right rows that earlier left rows keep.
    settled: u64,
}

impl<'a> Places<'a> {
    fn new(tight: &'a [u64], left_of: Vec<usize>) -> Self {
        let mut right_of = vec![NOBODY; left_of.len()];
        left_of.iter().enumerate().for_each(|(right, &left)| right_of[left] = right);
        Self { tight, left_of, right_of, settled: 0 }
    }

    /// Gives a left row the earliest place that can be had without moving those before it.
    fn settle(&mut self, left: usize) {
        let own = self.right_of[left];
        let mut seen = self.settled;
        for right in 0..own {
            let bit = 1 << right;
            // From a place that was seen before nobody could move on.
            if self.tight[left] & !seen & bit == 0 {
                continue;
            }
            seen |= bit;
            if self.move_on(right, own, &mut seen) {
                (self.left_of[right], self.right_of[left]) = (left, right);
                break;
            }
        }
        self.settled |= 1 << self.right_of[left];
    }

    /// Finds another place for the left row at the right one, moving others if need be, until one gets the free place.
    fn move_on(&mut self, right: usize, free: usize, seen: &mut u64) -> bool {
        let left = self.left_of[right];
        loop {
            let open = self.tight[left] & !*seen;
            if open == 0 {
                return false;
            }
            let next = if open >> free & 1 == 1 { free } else { open.trailing_zeros() as usize };
            *seen |= 1 << next;
            if next == free || self.move_on(next, free, seen) {
                (self.left_of[next], self.right_of[left]) = (left, next);
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_ROWS, pair};

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
        for _ in 0..3000 {
            let (lefts, rights) = (1 + next(5) as usize, 1 + next(5) as usize);
            let costs = 1 + next(4);
            let cost: Vec<Vec<u64>> =
                (0..lefts).map(|_| (0..rights).map(|_| next(costs)).collect()).collect();
            assert_eq!(pair(&cost, rights), by_trying(&cost, rights), "{cost:?}");
        }
    }

    #[test]
    fn the_most_rows_find_the_only_pairs_that_are_cheap() {
        let places: Vec<usize> = (0..MOST_ROWS).map(|left| left * 37 % MOST_ROWS).collect();
        for others in [1, 2, 5] {
            let cost = |left: usize, right: usize| {
                if places[left] == right { 0 } else { 1 + others * 7 / (1 + right as u64) }
            };
            let cost: Vec<Vec<u64>> =
                (0..MOST_ROWS).map(|left| (0..MOST_ROWS).map(|right| cost(left, right)).collect()).collect();
            assert_eq!(pair(&cost, MOST_ROWS), places.iter().copied().map(Some).collect::<Vec<_>>());
            let first: Vec<Option<usize>> = (0..MOST_ROWS).map(Some).collect();
            assert_eq!(pair(&vec![vec![others; MOST_ROWS]; MOST_ROWS], MOST_ROWS), first, "all alike");
        }
    }
}
