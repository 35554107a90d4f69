//! How two tables are cut into segments of their key.

use std::fmt;
use std::str::FromStr;

use super::hashed::Order;

/// How many segments are hashed before all others, to see whether that will be worth it.
const PROBED: usize = 16;
/// Beyond this many ranges a server is told their numbers: planning so many conditions would take longer than looking at every row.
const RANGES_MAX: usize = 256;

/// The number of a range: how many bounds are not above its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Segment(i32);

impl Segment {
    /// The rows without a value.
    pub(crate) const NULL: Self = Self(-1);
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Segment {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// How rows are written to be hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// In the binary form that PostgreSQL has.
    Binary,
    /// As text that all databases can write.
    Text,
}

/// How both tables are cut into segments, and hashed.
pub(crate) struct Cut {
    /// The column of either.
    pub(crate) columns: [usize; 2],
    pub(crate) order: Order,
    pub(crate) seed: i64,
    pub(crate) form: Form,
    /// In ascending order.
    pub(crate) bounds: Vec<String>,
}

/// Values from a bound on and below another.
struct Range<'a> {
    from: Option<&'a str>,
    below: Option<&'a str>,
}

impl Cut {
    /// The fewest ranges that make up some segments in ascending order.
    fn ranges(&self, segments: &[Segment]) -> Vec<Range<'_>> {
        let numbers: Vec<usize> =
            segments.iter().filter_map(|segment| usize::try_from(segment.0).ok()).collect();
        let runs = numbers.chunk_by(|before, after| before + 1 == *after);
        let bound = |number: usize| self.bounds.get(number).map(String::as_str);
        let range = |run: &[usize]| {
            let (first, last) = (*run.first()?, *run.last()?);
            Some(Range { from: first.checked_sub(1).and_then(bound), below: bound(last) })
        };
        runs.filter_map(range).collect()
    }

    /// Whether a row is in one of some segments, in SQL: by its key, or by the number of its segment.
    pub(crate) fn condition(
        &self,
        only: &[Segment],
        key: &str,
        number: &str,
        literal: impl Fn(&str) -> String,
    ) -> String {
        if only.is_empty() {
            return "false".to_owned();
        }
        let ranges = self.ranges(only);
        if ranges.len() > RANGES_MAX {
            let numbers: Vec<String> = only.iter().map(Segment::to_string).collect();
            return format!("{number} in ({})", numbers.join(","));
        }
        let condition = |range: &Range<'_>| {
            let bounds = [
                range.from.map(|bound| format!("{key} >= {}", literal(bound))),
                range.below.map(|bound| format!("{key} < {}", literal(bound))),
            ];
            let bounds: Vec<String> = bounds.into_iter().flatten().collect();
            if bounds.is_empty() {
                format!("{key} is not null")
            } else {
                format!("({})", bounds.join(" and "))
            }
        };
        let mut conditions: Vec<String> = ranges.iter().map(condition).collect();
        if only.contains(&Segment::NULL) {
            conditions.push(format!("{key} is null"));
        }
        format!("({})", conditions.join(" or "))
    }

    /// Some segments from all over the table.
    pub(crate) fn probed(&self) -> Option<Vec<Segment>> {
        let every = self.bounds.len() / PROBED;
        let numbers = (0..PROBED).map(|nth| i32::try_from(nth * every + every / 2));
        let numbers = numbers.collect::<Result<Vec<_>, _>>().ok()?;
        // Few segments are soon hashed.
        (every > 4).then(|| numbers.into_iter().map(Segment).collect())
    }
}
