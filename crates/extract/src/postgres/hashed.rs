//! A query of PostgreSQL that is hashed by the server, range by range of its key.

use std::collections::BTreeMap;

use tokio_postgres::types::Type;

use super::cell::Cell;
use super::numeric::Extent;
use super::{Column, Extents, Session, unended};
use crate::checksum::{Class, Cut, Digits, Hash, Order, Range, Segment, Values};
use crate::database::{Database, Query, quoted};
use crate::error::{Error, Refused};
use crate::table::Table;

/// The setting of the transaction that has the bounds of the ranges.
const BOUNDS: &str = "trueup.bounds";
/// Beyond this many ranges the server is told their numbers: planning so many conditions would take longer than looking at every row.
const RANGES_MAX: usize = 256;
/// Of what numbers, truth values, dates and times are written: text with any other character is nothing but text.
const TYPED_CHARACTERS: &str = "-+./: 0123456789AaEeFfIiLlMmNnPpRrSsTtUuYyZz";
/// Ranges are many more than the server expects of an expression, and still few enough to be hashed.
const HASHING: [(&str, &str); 3] = [("enable_sort", "off"), ("work_mem", "64MB"), ("jit", "off")];

/// A query, hashed where its rows are.
pub(crate) struct Hashed<'a> {
    session: Session<'a>,
    database: &'a Database<'a>,
    query: &'a Query,
    columns: Vec<Column>,
}

impl<'a> Hashed<'a> {
    pub(crate) fn open(database: &'a Database<'a>, query: &'a Query) -> Result<Self, Error> {
        let session = Session::open(database)?;
        let columns = session.columns(query)?;
        Ok(Self { session, database, query, columns })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// What a column is compared as.
    pub(crate) fn class(&self, column: usize) -> Class {
        match self.columns[column].cell {
            Cell::Boolean => Class::Boolean,
            Cell::Int16 | Cell::Int32 | Cell::Int64 | Cell::Float32 | Cell::Float64 | Cell::Numeric(_) => {
                Class::Number
            }
            Cell::Date => Class::Date,
            Cell::Time => Class::Time,
            Cell::Timestamp => Class::Timestamp,
            Cell::Instant => Class::Instant,
            Cell::Text => Class::Text,
            Cell::Bytes => Class::Bytes,
        }
    }

    /// How the values of a column are ordered, if that is the same in every database.
    pub(crate) fn order(&self, column: usize) -> Option<Order> {
        let Column { cell, kind, .. } = &self.columns[column];
        Some(match cell {
            Cell::Int16 | Cell::Int32 | Cell::Int64 => Order::Integer,
            Cell::Numeric(_) => Order::Decimal,
            Cell::Date => Order::Date,
            Cell::Timestamp => Order::Timestamp,
            Cell::Instant => Order::Instant,
            _ if *kind == Type::UUID => Order::Uuid,
            Cell::Text => Order::Text,
            _ => return None,
        })
    }

    /// How the digits of a column of exact numbers are written.
    pub(crate) fn digits(&self, column: usize) -> Option<Digits> {
        let Column { cell, modifier, .. } = &self.columns[column];
        match cell {
            Cell::Int16 | Cell::Int32 | Cell::Int64 => Some(Digits::Whole),
            // The precision is above the scale, and both behind a header of 4 bytes.
            Cell::Numeric(_) if *modifier >= 4 => Some(Digits::Scaled((modifier - 4) & 0x7ff)),
            Cell::Numeric(_) => Some(Digits::Free),
            _ => None,
        }
    }

    /// What columns of text hold.
    pub(crate) fn values(&self, columns: &[usize]) -> Result<Vec<Values>, Error> {
        let source = self.source();
        let looks = columns.iter().flat_map(|&column| {
            let value = format!("{}::text", quoted(&self.columns[column].name));
            let is_text = format!("translate({value}, '{TYPED_CHARACTERS}', '') <> ''");
            let exists = |condition: &str| format!("exists (select from {source} where {condition})");
            [exists(&is_text), exists(&format!("{value} is not null"))]
        });
        let looks: Vec<String> = looks.collect();
        if looks.is_empty() {
            return Ok(Vec::new());
        }
        let told = self.session.rows(&format!("select {}", looks.join(", ")), &[])?;
        let told: Vec<bool> = told.iter().flatten().map(|found| found.as_deref() == Some("t")).collect();
        let values = told.chunks_exact(2).map(|found| match found {
            [true, _] => Values::Text,
            [_, true] => Values::Typed,
            _ => Values::None,
        });
        Ok(values.collect())
    }

    /// How many rows the server expects.
    pub(crate) fn rows_expected(&self) -> Result<u64, Error> {
        let plan = self.session.rows(&format!("explain select * from {}", self.source()), &[])?;
        let line = plan.into_iter().flatten().flatten().next().unwrap_or_default();
        let rows = line.split_once("rows=").and_then(|(_, rest)| rest.split_once(' '));
        let rows = rows.and_then(|(rows, _)| rows.parse().ok());
        rows.ok_or_else(|| self.unexpected(&line))
    }

    /// Values of columns that cut a share of the rows, drawn by lot, into as many ranges of the same size as each is to have,
    /// as arrays; and how many different ones there were.
    pub(crate) fn bounds(
        &self,
        columns: &[(usize, Order, usize)],
        share: f64,
    ) -> Result<Vec<(String, usize)>, Error> {
        let looks = columns.iter().map(|&(column, order, segments)| {
            let key = self.key(column, order);
            let kind = sql_type(order);
            format!(
                "coalesce((percentile_disc(array(select at / {segments}.0::float8 from generate_series(1, {segments} - 1) as at)) \
                 within group (order by {key}))::{kind}[], '{{}}')::text, count(distinct {key})::text"
            )
        });
        let looks = looks.collect::<Vec<_>>().join(", ");
        let told = self
            .session
            .rows(&format!("select {looks} from {} where random() < {share}", self.source()), &[])?;
        let told: Vec<String> = told.into_iter().flatten().flatten().collect();
        let bounds = told.chunks_exact(2).map(|found| {
            let count = found[1].parse().map_err(|_| self.unexpected(&found[1]))?;
            Ok((found[0].clone(), count))
        });
        bounds.collect()
    }

    /// The bounds one by one, as literals.
    pub(crate) fn literals(&self, bounds: &str, order: Order) -> Result<Vec<String>, Error> {
        let kind = sql_type(order);
        let each = format!(
            "select quote_literal(bound) from unnest(current_setting('{BOUNDS}')::{kind}[]) as bound"
        );
        let told = self.session.rows(&each, &[(BOUNDS, bounds)])?;
        Ok(told.into_iter().flatten().flatten().map(|literal| format!("{literal}::{kind}")).collect())
    }

    /// The hash of every segment that has rows, or of some; and how many digits numbers need in them. Columns come with whether their
    /// numbers are written without zeros at the end.
    pub(crate) fn hashes(
        &self,
        cut: &Cut,
        side: usize,
        columns: &[(usize, bool)],
        only: Option<&[Segment]>,
    ) -> Result<(BTreeMap<Segment, Hash>, Extents), Error> {
        let values = columns.iter().map(|&(column, is_trimmed)| self.canonical(column, is_trimmed));
        let values = values.collect::<Vec<_>>().join(", ");
        // What is hashed is the binary form of a row, in which every field comes with its length, and NULL has none. Only an array lets bytes be hashed.
        let hash = format!("hash_array_extended(array[record_send(row({values}))], {})", cut.seed);
        let numbers: Vec<usize> = columns.iter().map(|(column, _)| *column).collect();
        let numbers: Vec<(&Column, Digits)> = (numbers.into_iter())
            .filter_map(|column| Some((&self.columns[column], self.digits(column)?)))
            .filter(|(_, digits)| *digits != Digits::Whole)
            .collect();
        let extents = numbers.iter().map(|(column, digits)| {
            let value = column.value();
            // Where the scale is declared, only values that are no number are unknown, and these are above all others.
            let least = if *digits == Digits::Free {
                format!("min({value})::text, max(scale({value}))::text")
            } else {
                "null, null".to_owned()
            };
            format!(", max({value})::text, {least}")
        });
        let bucket = self.bucket(cut, side);
        let condition =
            only.map_or_else(String::new, |only| format!("where {}", self.condition(cut, side, only)));
        let statement = format!(
            "select {bucket}, count(*)::text, sum({hash})::text{} from {} {condition} group by 1",
            extents.collect::<String>(),
            self.source()
        );
        let settings: Vec<(&str, &str)> =
            HASHING.into_iter().chain([(BOUNDS, cut.bounds.as_str())]).collect();
        let mut hashes = BTreeMap::new();
        let mut extents = vec![Extent::default(); numbers.len()];
        for row in self.session.rows(&statement, &settings)? {
            let [Some(segment), Some(rows), Some(sum), found @ ..] = row.as_slice() else {
                return Err(self.unexpected(&format!("{row:?}")));
            };
            let segment = segment.parse().map_err(|_| self.unexpected(segment))?;
            let rows = rows.parse().map_err(|_| self.unexpected(rows))?;
            hashes.insert(segment, Hash { rows, sum: sum.clone() });
            for (extent, found) in extents.iter_mut().zip(found.chunks_exact(3)) {
                found[..2].iter().flatten().for_each(|numeral| extent.widen_shown(numeral));
                if let Some(scale) = &found[2] {
                    extent.widen_scale(scale.parse().map_err(|_| self.unexpected(scale))?);
                }
            }
        }
        let extents = numbers.iter().map(|(column, _)| column.name.clone()).zip(extents).collect();
        Ok((hashes, extents))
    }

    /// All rows of some segments.
    pub(crate) fn read(
        &self,
        cut: &Cut,
        side: usize,
        only: &[Segment],
        extents: &Extents,
    ) -> Result<Table, Error> {
        let condition = if only.is_empty() { "false".to_owned() } else { self.condition(cut, side, only) };
        let query = format!("select * from {} where {condition}", self.source());
        self.session.copy(&Query { pieces: vec![query], values: Vec::new() }, extents)
    }

    /// All rows.
    pub(crate) fn read_all(&self) -> Result<Table, Error> {
        self.session.copy(self.query, &Extents::new())
    }

    /// A value in a type that is the same on every server.
    fn canonical(&self, column: usize, is_trimmed: bool) -> String {
        let Column { name, cell, .. } = &self.columns[column];
        let name = quoted(name);
        if is_trimmed {
            return format!("trim_scale({name}::numeric)");
        }
        let kind = match cell {
            Cell::Boolean => "bool",
            Cell::Int16 | Cell::Int32 | Cell::Int64 => "int8",
            Cell::Float32 => "float4",
            Cell::Float64 => "float8",
            Cell::Numeric(_) => "numeric",
            Cell::Date => "date",
            Cell::Time => "time",
            Cell::Timestamp => "timestamp",
            Cell::Instant => "timestamptz",
            Cell::Text => "text",
            Cell::Bytes => "bytea",
        };
        format!("{name}::{kind}")
    }

    fn source(&self) -> String {
        // A line of its own, for a query may end in a comment.
        format!("(\n{}\n) as source", unended(&self.query.sql(|_| String::new())))
    }

    /// A column in an order that is the same in every database.
    fn key(&self, column: usize, order: Order) -> String {
        let name = quoted(&self.columns[column].name);
        // Otherwise the column as it is, as indices have it.
        if order == Order::Text { format!("{name}::text collate \"C\"") } else { name }
    }

    fn bucket(&self, cut: &Cut, side: usize) -> String {
        let kind = sql_type(cut.order);
        let key = self.key(cut.columns[side], cut.order);
        // In a query of its own, so that it is read once and not for each row.
        let bounds = format!("(select current_setting('{BOUNDS}')::{kind}[])");
        let cast = if cut.order == Order::Text { String::new() } else { format!("::{kind}") };
        format!("coalesce(width_bucket({key}{cast}, {bounds}), {})", Segment::NULL)
    }

    fn condition(&self, cut: &Cut, side: usize, only: &[Segment]) -> String {
        let key = self.key(cut.columns[side], cut.order);
        let ranges = cut.ranges(only);
        if ranges.len() > RANGES_MAX {
            let numbers: Vec<String> = only.iter().map(Segment::to_string).collect();
            return format!("{} = any ('{{{}}}'::int[])", self.bucket(cut, side), numbers.join(","));
        }
        let condition = |range: &Range<'_>| {
            let bounds = [
                range.from.map(|bound| format!("{key} >= {bound}")),
                range.below.map(|bound| format!("{key} < {bound}")),
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

    fn unexpected(&self, told: &str) -> Error {
        self.database.refused(Refused::Query, format!("it answers {told:?}, which is not what was asked for"))
    }
}

fn sql_type(order: Order) -> &'static str {
    match order {
        Order::Integer => "int8",
        Order::Decimal => "numeric",
        Order::Date => "date",
        Order::Timestamp => "timestamp",
        Order::Instant => "timestamptz",
        Order::Uuid => "uuid",
        Order::Text => "text",
    }
}
