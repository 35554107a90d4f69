//! Two tables that are mostly the same: ranges of a key column are hashed where the data lives, and only those that differ are read.
//!
//! A range is left out of both tables when it has as many rows in either and the sums of their hashes are equal. What is hashed of a row are all columns that are compared, each with its
//! length, so that fields cannot run together and NULL is not the empty text. The hash has 64 bits, keyed with a seed that is random in every run, and the sums are exact. So ranges that differ are
//! taken for equal with a chance of 2^-64: one of the different rows would have to have the one hash that makes the sums equal, whatever the others are and however often rows repeat.
//!
//! Rows that hash alike are equal to a comparison, because a column has to be of one kind in both tables, and the form in which a value is hashed says all that a comparison of its kind looks at. Equal
//! values in different forms, such as numbers of different types, only make a range be read in vain. A value that cannot be read has another hash in either table, so that whoever reads it says so. All rows of a
//! key are in one range of each table, whatever its order there, so that leaving it out takes whole groups of equal rows out of a comparison, and nothing else. What a comparison concludes from all values of
//! a column, whether text is numbers and how many digits they have, is found out beforehand.

mod cut;
mod hashed;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::thread;

use arrow_schema::DataType;

pub(crate) use self::cut::{Cut, Form, Segment};
pub(crate) use self::hashed::{
    Bounds, Digits, Hash, Hashed, HashedColumn, Hashes, Hashing, Order, TYPED_CHARACTERS, Values, Wanted,
    Written,
};
use crate::database::{Database, Engine, Query};
use crate::error::Error;
use crate::table::Table;
use crate::{mysql, postgres};

/// How many rows a segment is to have: hashing costs the same however many there are, and each difference has that many read.
const SEGMENT_ROWS: u64 = 512;
/// How many segments there are at most.
const SEGMENTS_MAX: u64 = 1 << 15;
/// The same where the order is uneven.
const UNEVEN_SEGMENTS_MAX: u64 = 256;
/// How many rows are drawn for each segment, so that segments are of about the same size.
const DRAWN_FOR_SEGMENT: f64 = 8.0;

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
    /// Whether it is read as truth values in either table, whatever it is there.
    pub is_truth: [bool; 2],
}

/// What has to be compared.
pub struct Pruned {
    /// The rows of either table that may differ.
    pub tables: [Table; 2],
    /// How many rows of either are the same, and not among them.
    pub left_out: u64,
    /// What adds up to the sum of the values that were left out, of pairs of exact numbers beside the key, by their number.
    pub totals: Vec<(usize, Vec<String>)>,
    /// The pairs, by number, that are text, whatever those rows look like.
    pub texts: Vec<usize>,
    /// Why everything was read, if it was.
    pub whole: Option<String>,
}

/// What keeps one of the tables from being read.
#[derive(Debug)]
pub struct SideError {
    /// Which of the two it is.
    pub side: usize,
    /// What is wrong with it.
    pub error: Error,
}

/// Why no range is left out.
enum Unpruned {
    /// Hashes would not tell, or not be worth it.
    Whole(String),
    Failed(SideError),
}

impl From<SideError> for Unpruned {
    fn from(error: SideError) -> Self {
        Self::Failed(error)
    }
}

/// Two tables that are about to be read.
pub struct Checksum<'a> {
    sides: [Box<dyn Hashed + 'a>; 2],
    form: Form,
}

impl<'a> Checksum<'a> {
    /// Whether both databases hash, and hash alike.
    #[must_use]
    pub fn is_for(sides: &[Side<'_>; 2]) -> bool {
        let hashes = |side: &Side<'_>| matches!(side.database.engine, Engine::Postgres | Engine::Mysql);
        sides.iter().all(|side| hashes(side) && side.query.values.is_empty())
    }

    /// Connects to both; each is seen as it is at one moment.
    ///
    /// # Errors
    /// When a database cannot be reached, or refuses the query.
    pub fn open(sides: &'a [Side<'a>; 2]) -> Result<Self, SideError> {
        let open = |Side { database, query }: &'a Side<'a>| -> Result<Box<dyn Hashed + 'a>, Error> {
            Ok(match database.engine {
                Engine::Mysql => Box::new(mysql::HashedQuery::open(database, query)?),
                _ => Box::new(postgres::HashedQuery::open(database, query)?),
            })
        };
        let [left, right] = sides;
        let is_postgres = sides.iter().all(|side| side.database.engine == Engine::Postgres);
        let form = if is_postgres { Form::Binary } else { Form::Text };
        Ok(Self { sides: at_once(|| open(left), || open(right))?, form })
    }

    /// The names of a table's columns.
    #[must_use]
    pub fn columns(&self, side: usize) -> Vec<&str> {
        self.sides[side].columns().iter().map(|column| column.name.as_str()).collect()
    }

    /// Reads what may differ in the given columns; all of it, where hashes would not tell, or not be worth it.
    ///
    /// # Errors
    /// When a database fails half-way.
    pub fn read(&mut self, pairs: &[Pair]) -> Result<Pruned, SideError> {
        match self.prune(pairs) {
            Ok(pruned) => Ok(pruned),
            Err(Unpruned::Whole(why)) => Ok(Pruned { whole: Some(why), ..self.read_all()? }),
            Err(Unpruned::Failed(error)) => Err(error),
        }
    }

    /// Reads everything.
    ///
    /// # Errors
    /// When a database fails half-way.
    pub fn read_all(&mut self) -> Result<Pruned, SideError> {
        let tables = self.both(|_, table| table.read_all())?;
        Ok(Pruned { tables, left_out: 0, totals: Vec::new(), texts: Vec::new(), whole: None })
    }

    fn prune(&mut self, pairs: &[Pair]) -> Result<Pruned, Unpruned> {
        let written = pairs.iter().map(|pair| self.written(pair)).collect::<Result<Vec<_>, _>>()?;
        let texts = self.texts(pairs)?;
        let cut = self.cut(pairs)?;
        let summed: Vec<usize> = (0..pairs.len()).filter(|at| self.is_summed(&pairs[*at])).collect();
        let hashing = [0, 1].map(|side| {
            let hashing = |(at, written): (usize, &Written)| Hashing {
                column: pairs[at].columns[side],
                written: *written,
                // What is left out has the same sum in both.
                is_summed: side == 0 && summed.contains(&at),
            };
            written.iter().enumerate().map(hashing).collect::<Vec<_>>()
        });
        if let Some(probed) = cut.probed() {
            let hashes = self.both(|side, table| table.hashes(&cut, side, &hashing[side], Some(&probed)))?;
            Differing::of(&hashes).check()?;
        }
        let hashes = self.both(|side, table| table.hashes(&cut, side, &hashing[side], None))?;
        let differing = Differing::of(&hashes);
        differing.check()?;
        let tables = self.both(|side, table| table.read(&cut, side, &differing.segments))?;
        let mut totals: Vec<(usize, Vec<String>)> = summed.into_iter().map(|at| (at, Vec::new())).collect();
        for found in differing.equal_totals {
            totals.iter_mut().zip(found).for_each(|((_, totals), found)| totals.extend(found));
        }
        Ok(Pruned { tables, left_out: differing.equal_rows, totals, texts, whole: None })
    }

    /// Does the same with both tables at once.
    fn both<T: Send>(
        &mut self,
        work: impl Fn(usize, &mut dyn Hashed) -> Result<T, Error> + Sync,
    ) -> Result<[T; 2], SideError> {
        let [left, right] = &mut self.sides;
        at_once(|| work(0, left.as_mut()), || work(1, right.as_mut()))
    }

    fn pair(&self, pair: &Pair) -> [&HashedColumn; 2] {
        [0, 1].map(|side| &self.sides[side].columns()[pair.columns[side]])
    }

    /// How the values of a pair are written in both databases, so that what hashes alike is equal.
    fn written(&self, pair: &Pair) -> Result<Written, Unpruned> {
        let [left, right] = self.pair(pair);
        let refused = |why: &str| Err(Unpruned::Whole(format!("`{}` {why}", left.name)));
        if pair.is_truth != [false, false] {
            let is_truth = |side: usize, column: &HashedColumn| {
                column.data_type == DataType::Boolean
                    || (pair.is_truth[side] && column.digits == Some(Digits::Whole))
            };
            return if is_truth(0, left) && is_truth(1, right) {
                Ok(Written::Truth)
            } else {
                refused("is cast to boolean from what is no integer, or in one table only")
            };
        }
        if !left.is_like(right) {
            return refused("is not of one kind in both tables");
        }
        match (left.digits, right.digits) {
            (Some(one), Some(other)) if one == other && one != Digits::Free => Ok(Written::Plain),
            (Some(_), Some(_)) => Ok(Written::Trimmed),
            _ if left.is_number() && self.form == Form::Text => {
                refused("holds floats, which the two databases do not write alike")
            }
            _ => Ok(Written::Plain),
        }
    }

    /// Whether the values of a pair add up to a control total, and exactly in every database.
    fn is_summed(&self, pair: &Pair) -> bool {
        let is_exact = self.pair(pair).iter().all(|column| column.digits.is_some());
        is_exact && !pair.is_key && pair.is_truth == [false, false]
    }

    /// The pairs of text, if it can be known that they are without reading them whole.
    fn texts(&mut self, pairs: &[Pair]) -> Result<Vec<usize>, Unpruned> {
        let is_text = |at: &usize| {
            let [left, _] = self.pair(&pairs[*at]);
            left.data_type == DataType::Utf8View && pairs[*at].is_truth == [false, false]
        };
        let of_text: Vec<usize> = (0..pairs.len()).filter(is_text).collect();
        let [left, right] = self.both(|side, table| {
            let columns: Vec<usize> = of_text.iter().map(|at| pairs[*at].columns[side]).collect();
            table.values(&columns)
        })?;
        let mut texts = Vec::new();
        for (at, values) in of_text.into_iter().zip(left.into_iter().zip(right)) {
            match values {
                (Values::Text, Values::Text) if pairs[at].may_be_text => texts.push(at),
                (Values::None, Values::None) if pairs[at].may_be_text => {}
                _ => {
                    let name = &self.pair(&pairs[at])[0].name;
                    let why = "is text that may all be numbers, truth values, dates or times";
                    return Err(Unpruned::Whole(format!("`{name}` {why}")));
                }
            }
        }
        Ok(texts)
    }

    /// How the tables are best cut, by what the first is like; not at all if no column of the key has the same order in both.
    fn cut(&mut self, pairs: &[Pair]) -> Result<Cut, Unpruned> {
        let candidate = |pair: &Pair| {
            let [left, right] = self.pair(pair);
            Some((pair.columns, left.order?.shared(right.order?)?))
        };
        let candidates: Vec<_> = pairs.iter().filter(|pair| pair.is_key).filter_map(candidate).collect();
        let of_first = |error| SideError { side: 0, error };
        let first = &mut self.sides[0];
        let rows = first.rows_expected().map_err(of_first)?;
        let segments = (rows / SEGMENT_ROWS).clamp(1, SEGMENTS_MAX);
        let wanted = candidates.iter().map(|&(columns, order)| {
            let most = if order.is_uneven() { UNEVEN_SEGMENTS_MAX } else { SEGMENTS_MAX };
            Wanted { column: columns[0], order, segments: segments.min(most) as usize }
        });
        let wanted: Vec<Wanted> = wanted.collect();
        let share = (DRAWN_FOR_SEGMENT * segments as f64 / rows.max(1) as f64).min(1.0);
        let found = first.bounds(&wanted, share).map_err(of_first)?;
        let best = (candidates.into_iter().zip(&wanted).zip(found))
            .max_by_key(|((_, wanted), bounds)| wanted.segments.min(bounds.distinct));
        let Some((((columns, order), _), Bounds { values: mut bounds, .. })) = best else {
            let why = "no column of the key is ordered alike in both databases";
            return Err(Unpruned::Whole(why.to_owned()));
        };
        bounds.retain(|bound| order.takes(bound));
        let seed = RandomState::new().build_hasher().finish().cast_signed();
        Ok(Cut { columns, order, seed, form: self.form, bounds })
    }
}

/// The segments that differ.
struct Differing {
    segments: Vec<Segment>,
    /// How many rows they have in both tables together.
    rows: u64,
    /// How many rows of either table are in the others.
    equal_rows: u64,
    /// What these add up to, segment by segment.
    equal_totals: Vec<Vec<Option<String>>>,
}

impl Differing {
    fn of([left, right]: &[Hashes; 2]) -> Self {
        let mut differing = Self { segments: Vec::new(), rows: 0, equal_rows: 0, equal_totals: Vec::new() };
        let mut segments: Vec<Segment> = left.keys().chain(right.keys()).copied().collect();
        segments.sort_unstable();
        segments.dedup();
        for segment in segments {
            match (left.get(&segment), right.get(&segment)) {
                (Some(one), Some(other)) if one.agrees_with(other) => {
                    differing.equal_rows += one.rows;
                    differing.equal_totals.push(one.totals.clone());
                }
                (one, other) => {
                    differing.rows += [one, other].into_iter().flatten().map(|hash| hash.rows).sum::<u64>();
                    differing.segments.push(segment);
                }
            }
        }
        differing
    }

    /// Refuses where to read everything takes no longer than to pick them out.
    fn check(&self) -> Result<(), Unpruned> {
        if self.rows > self.equal_rows {
            return Err(Unpruned::Whole("too many ranges of the key differ".to_owned()));
        }
        Ok(())
    }
}

fn at_once<T: Send>(
    left: impl FnOnce() -> Result<T, Error> + Send,
    right: impl FnOnce() -> Result<T, Error>,
) -> Result<[T; 2], SideError> {
    let (left, right) = thread::scope(|scope| {
        let left = scope.spawn(left);
        let right = right();
        (left.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), right)
    });
    let failed = |side| move |error| SideError { side, error };
    Ok([left.map_err(failed(0))?, right.map_err(failed(1))?])
}
