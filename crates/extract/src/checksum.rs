//! Two tables that are mostly the same: ranges of a key column are hashed where the data lives, and only those that differ are read.
//!
//! A range is left out of both tables when it has as many rows in either and the sums of their hashes are equal. What is hashed of a row are all columns that are compared, each with its
//! length, so that fields cannot run together and NULL is not the empty text. The hash has 64 bits, keyed with a seed that is random in every run, and the sums are exact. So ranges that differ are
//! taken for equal with a chance of 2^-64: one of the different rows would have to have the one hash that makes the sums equal, whatever the others are and however often rows repeat.
//!
//! Rows that hash alike are equal to a comparison, because a column has to be of one [`Class`] in both tables, and the form in which a value is hashed says all that a comparison of its class looks at. Equal
//! values in different forms, such as numbers of different types, only make a range be read in vain. All rows of a key are in one range, so that leaving it out takes whole groups of equal rows out of
//! a comparison, and nothing else. What a comparison concludes from all values of a column, whether text is numbers and how many digits they have, is found out beforehand.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::str::FromStr;
use std::thread;

use crate::database::{Database, Engine, Query};
use crate::error::Error;
use crate::postgres::{Extents, Hashed};
use crate::table::Table;

/// How many rows a segment is to have: hashing costs the same however many there are, and each difference has that many read.
const SEGMENT_ROWS: u64 = 512;
/// How many segments there are at most.
const SEGMENTS_MAX: u64 = 1 << 15;
/// The same where the server walks along the bounds for each row, since they are not all of one width.
const UNEVEN_SEGMENTS_MAX: u64 = 256;
/// How many rows are drawn for each segment, so that segments are of about the same size.
const DRAWN_FOR_SEGMENT: f64 = 8.0;
/// How many segments are hashed before all others, to see whether that will be worth it.
const PROBED: usize = 16;

/// One of the two tables.
pub struct Side<'a> {
    /// Where it is.
    pub database: Database<'a>,
    /// What delivers its rows, without values to bind.
    pub query: &'a Query,
}

/// A column of both tables that is compared.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// Its number in either table.
    pub columns: [usize; 2],
    /// Whether it is part of the key.
    pub is_key: bool,
    /// Whether it may be compared as text.
    pub may_be_text: bool,
}

/// What has to be compared.
pub struct Pruned {
    /// The rows of either table that may differ.
    pub tables: [Table; 2],
    /// How many rows of either are the same, and not among them.
    pub left_out: u64,
    /// The pairs, by number, that are text, whatever those rows look like.
    pub texts: Vec<usize>,
}

/// What keeps one of the tables from being read.
#[derive(Debug)]
pub struct SideError {
    /// Which of the two it is.
    pub side: usize,
    /// What is wrong with it.
    pub error: Error,
}

/// What a column is compared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Boolean,
    Number,
    Date,
    Time,
    Timestamp,
    Instant,
    Text,
    Bytes,
}

/// How the values of a column are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Integer,
    Decimal,
    Date,
    Timestamp,
    Instant,
    Uuid,
    /// By its bytes in UTF-8.
    Text,
}

/// How the digits of exact numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Digits {
    /// As integers.
    Whole,
    /// With so many behind the point.
    Scaled(i32),
    /// With as many as each value was given.
    Free,
}

/// What a column of text holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    /// A value that can be nothing but text.
    Text,
    /// Values that may all be numbers, truth values, dates or times.
    Typed,
    /// Only NULL.
    None,
}

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

/// What is known of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hash {
    pub(crate) rows: u64,
    /// The exact sum of the hashes of its rows.
    pub(crate) sum: String,
}

type Hashes = BTreeMap<Segment, Hash>;

/// How both tables are cut into segments, and hashed.
pub(crate) struct Cut {
    /// The column of either.
    pub(crate) columns: [usize; 2],
    pub(crate) order: Order,
    pub(crate) seed: i64,
    /// All bounds, as an array of the server.
    pub(crate) bounds: String,
    /// The bounds one by one, as literals.
    literals: Vec<String>,
}

/// Values from a bound on and below another, as literals.
pub(crate) struct Range<'a> {
    pub(crate) from: Option<&'a str>,
    pub(crate) below: Option<&'a str>,
}

impl Cut {
    /// The fewest ranges that make up some segments in ascending order.
    pub(crate) fn ranges(&self, segments: &[Segment]) -> Vec<Range<'_>> {
        let numbers: Vec<usize> =
            segments.iter().filter_map(|segment| usize::try_from(segment.0).ok()).collect();
        let runs = numbers.chunk_by(|before, after| before + 1 == *after);
        let bound = |number: usize| self.literals.get(number).map(String::as_str);
        let range = |run: &[usize]| {
            let (first, last) = (*run.first()?, *run.last()?);
            Some(Range { from: first.checked_sub(1).and_then(bound), below: bound(last) })
        };
        runs.filter_map(range).collect()
    }

    /// Some segments from all over the table.
    fn probed(&self) -> Option<Vec<Segment>> {
        let every = self.literals.len() / PROBED;
        let numbers = (0..PROBED).map(|nth| i32::try_from(nth * every + every / 2));
        let numbers = numbers.collect::<Result<Vec<_>, _>>().ok()?;
        // Few segments are soon hashed.
        (every > 4).then(|| numbers.into_iter().map(Segment).collect())
    }
}

/// Two tables that are about to be read.
pub struct Checksum<'a> {
    sides: [Hashed<'a>; 2],
}

impl<'a> Checksum<'a> {
    /// Whether both databases hash, and hash alike.
    #[must_use]
    pub fn is_for(sides: &[Side<'_>; 2]) -> bool {
        sides.iter().all(|side| side.database.engine == Engine::Postgres && side.query.values.is_empty())
    }

    /// Connects to both; each is seen as it is at one moment.
    ///
    /// # Errors
    /// When a database cannot be reached, or refuses the query.
    pub fn open(sides: &'a [Side<'a>; 2]) -> Result<Self, SideError> {
        let open = |side: usize| Hashed::open(&sides[side].database, sides[side].query);
        Ok(Self { sides: both(open)? })
    }

    /// The names of a table's columns.
    #[must_use]
    pub fn columns(&self, side: usize) -> Vec<&str> {
        self.sides[side].names().collect()
    }

    /// Reads what may differ in the given columns; all of it, where hashes would not tell, or not be worth it.
    ///
    /// # Errors
    /// When a database fails half-way.
    pub fn read(&self, pairs: &[Pair]) -> Result<Pruned, SideError> {
        let Some(texts) = self.texts(pairs)? else { return self.read_all() };
        let Some(cut) = self.cut(pairs)? else { return self.read_all() };
        if let Some(probed) = cut.probed() {
            let [(left, _), (right, _)] = self.hashes(&cut, pairs, Some(&probed))?;
            if Differing::of(&left, &right).are_many() {
                return self.read_all();
            }
        }
        let [(left, left_extents), (right, right_extents)] = self.hashes(&cut, pairs, None)?;
        let differing = Differing::of(&left, &right);
        if differing.are_many() {
            return self.read_all();
        }
        let extents = [left_extents, right_extents];
        let tables = both(|side| self.sides[side].read(&cut, side, &differing.segments, &extents[side]))?;
        Ok(Pruned { tables, left_out: differing.equal_rows, texts })
    }

    /// Reads everything.
    ///
    /// # Errors
    /// When a database fails half-way.
    pub fn read_all(&self) -> Result<Pruned, SideError> {
        let tables = both(|side| self.sides[side].read_all())?;
        Ok(Pruned { tables, left_out: 0, texts: Vec::new() })
    }

    /// The pairs of text; none if what a column is cannot be known without reading it whole.
    fn texts(&self, pairs: &[Pair]) -> Result<Option<Vec<usize>>, SideError> {
        let class = |pair: &Pair, side: usize| self.sides[side].class(pair.columns[side]);
        if pairs.iter().any(|pair| class(pair, 0) != class(pair, 1)) {
            return Ok(None);
        }
        let of_text: Vec<usize> =
            (0..pairs.len()).filter(|at| class(&pairs[*at], 0) == Class::Text).collect();
        if of_text.iter().any(|at| !pairs[*at].may_be_text) {
            return Ok(None);
        }
        let [left, right] = both(|side| {
            let columns: Vec<usize> = of_text.iter().map(|at| pairs[*at].columns[side]).collect();
            self.sides[side].values(&columns)
        })?;
        let mut texts = Vec::new();
        for (at, values) in of_text.into_iter().zip(left.into_iter().zip(right)) {
            match values {
                (Values::Text, Values::Text) => texts.push(at),
                (Values::None, Values::None) => {}
                _ => return Ok(None),
            }
        }
        Ok(Some(texts))
    }

    /// How the tables are best cut, by what the first is like; not at all if no column of the key has the same order in both.
    fn cut(&self, pairs: &[Pair]) -> Result<Option<Cut>, SideError> {
        let order = |pair: &&Pair| {
            let [left, right] = [0, 1].map(|side| self.sides[side].order(pair.columns[side]));
            left.filter(|order| right == Some(*order)).map(|order| (pair.columns, order))
        };
        let candidates: Vec<_> =
            pairs.iter().filter(|pair| pair.is_key).filter_map(|pair| order(&pair)).collect();
        if candidates.is_empty() {
            return Ok(None);
        }
        let first = &self.sides[0];
        let of_first = |error| SideError { side: 0, error };
        let rows = first.rows_expected().map_err(of_first)?;
        let segments = (rows / SEGMENT_ROWS).clamp(1, SEGMENTS_MAX);
        let wanted: Vec<_> = (candidates.iter())
            .map(|&(columns, order)| {
                let is_uneven = matches!(order, Order::Decimal | Order::Text);
                let most = if is_uneven { UNEVEN_SEGMENTS_MAX } else { SEGMENTS_MAX };
                (columns[0], order, segments.min(most) as usize)
            })
            .collect();
        let share = (DRAWN_FOR_SEGMENT * segments as f64 / rows.max(1) as f64).min(1.0);
        let found = first.bounds(&wanted, share).map_err(of_first)?;
        let best = (candidates.into_iter().zip(&wanted).zip(found))
            .max_by_key(|((_, (_, _, segments)), (_, distinct))| *segments.min(distinct));
        let Some((((columns, order), _), (bounds, _))) = best else { return Ok(None) };
        let literals = first.literals(&bounds, order).map_err(of_first)?;
        let seed = RandomState::new().build_hasher().finish().cast_signed();
        Ok(Some(Cut { columns, order, seed, bounds, literals }))
    }

    fn hashes(
        &self,
        cut: &Cut,
        pairs: &[Pair],
        only: Option<&[Segment]>,
    ) -> Result<[(Hashes, Extents); 2], SideError> {
        both(|side| {
            let columns: Vec<(usize, bool)> =
                (pairs.iter()).map(|pair| (pair.columns[side], self.is_trimmed(pair))).collect();
            self.sides[side].hashes(cut, side, &columns, only)
        })
    }

    /// Whether numbers of a column are hashed without zeros at the end, because those of the other table may have others.
    fn is_trimmed(&self, pair: &Pair) -> bool {
        match [0, 1].map(|side| self.sides[side].digits(pair.columns[side])) {
            [Some(left), Some(right)] => left != right || left == Digits::Free,
            _ => false,
        }
    }
}

/// The segments that differ.
struct Differing {
    segments: Vec<Segment>,
    /// How many rows they have in both tables together.
    rows: u64,
    /// How many rows of either table are in the others.
    equal_rows: u64,
}

impl Differing {
    fn of(left: &Hashes, right: &Hashes) -> Self {
        let mut differing = Self { segments: Vec::new(), rows: 0, equal_rows: 0 };
        let mut segments: Vec<Segment> = left.keys().chain(right.keys()).copied().collect();
        segments.sort_unstable();
        segments.dedup();
        for segment in segments {
            match (left.get(&segment), right.get(&segment)) {
                (Some(one), Some(other)) if one == other => differing.equal_rows += one.rows,
                (one, other) => {
                    differing.rows += [one, other].into_iter().flatten().map(|hash| hash.rows).sum::<u64>();
                    differing.segments.push(segment);
                }
            }
        }
        differing
    }

    /// Whether to read everything takes no longer than to pick them out.
    fn are_many(&self) -> bool {
        self.rows > self.equal_rows
    }
}

/// Does the same with both tables at once.
fn both<T: Send>(work: impl Fn(usize) -> Result<T, Error> + Sync) -> Result<[T; 2], SideError> {
    let (left, right) = thread::scope(|scope| {
        let left = scope.spawn(|| work(0));
        let right = work(1);
        (left.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), right)
    });
    let failed = |side| move |error| SideError { side, error };
    Ok([left.map_err(failed(0))?, right.map_err(failed(1))?])
}
