//! A query of PostgreSQL that is hashed by the server, range by range of its key.

use tokio_postgres::types::Type;

use super::cell::Cell;
use super::numeric::Extent;
use super::{Column, Extents, Session};
use crate::checksum::{
    Bounds, Cut, Digits, Form, Hash, Hashed, HashedColumn, Hashes, Hashing, Order, Segment, TYPED_CHARACTERS,
    Values, Wanted, Written,
};
use crate::database::{Database, Query, quoted};
use crate::error::Error;
use crate::table::Table;

/// The setting of the transaction that has the bounds of the ranges.
const BOUNDS: &str = "trueup.bounds";
/// Ranges are many more than the server expects of an expression, and still few enough to be hashed.
const HASHING: [(&str, &str); 3] = [("enable_sort", "off"), ("work_mem", "64MB"), ("jit", "off")];
/// What is no infinity, and not too far away to be counted.
const MOMENTS: &str = "'4713-01-01 BC' and '200000-01-01'";

/// A query, hashed where its rows are.
pub(crate) struct HashedQuery<'a> {
    session: Session<'a>,
    database: &'a Database<'a>,
    query: &'a Query,
    columns: Vec<Column>,
    described: Vec<HashedColumn>,
    /// How many digits numbers need in all rows that were hashed last.
    extents: Extents,
}

impl<'a> HashedQuery<'a> {
    pub(crate) fn open(database: &'a Database<'a>, query: &'a Query) -> Result<Self, Error> {
        let session = Session::open(database)?;
        let columns = session.columns(query)?;
        let described = columns.iter().map(described).collect();
        Ok(Self { session, database, query, columns, described, extents: Extents::new() })
    }
}

impl Hashed for HashedQuery<'_> {
    fn columns(&self) -> &[HashedColumn] {
        &self.described
    }

    fn values(&mut self, columns: &[usize]) -> Result<Vec<Values>, Error> {
        let source = self.query.source();
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
        Ok(told.chunks_exact(2).map(|found| Values::of(found[0], found[1])).collect())
    }

    /// As many as the server expects.
    fn rows_expected(&mut self) -> Result<u64, Error> {
        let plan = self.session.rows(&format!("explain select * from {}", self.query.source()), &[])?;
        let line = plan.into_iter().flatten().flatten().next().unwrap_or_default();
        let rows = line.split_once("rows=").and_then(|(_, rest)| rest.split_once(' '));
        let rows = rows.and_then(|(rows, _)| rows.parse().ok());
        rows.ok_or_else(|| self.database.unexpected(&line))
    }

    fn bounds(&mut self, wanted: &[Wanted], share: f64) -> Result<Vec<Bounds>, Error> {
        let looks = wanted.iter().map(|&Wanted { column, order, segments }| {
            let key = self.key(column, order);
            let kind = sql_type(order);
            format!(
                "coalesce((percentile_disc(array(select at / {segments}.0::float8 from generate_series(1, {segments} - 1) as at)) \
                 within group (order by {key}))::{kind}[], '{{}}')::text, count(distinct {key})::text"
            )
        });
        let looks = looks.collect::<Vec<_>>().join(", ");
        if looks.is_empty() {
            return Ok(Vec::new());
        }
        let drawn = format!("select {looks} from {} where random() < {share}", self.query.source());
        let told: Vec<String> = self.session.rows(&drawn, &[])?.into_iter().flatten().flatten().collect();
        let bounds = wanted.iter().zip(told.chunks_exact(2)).map(|(Wanted { order, .. }, found)| {
            let kind = sql_type(*order);
            let shown = if *order == Order::Instant { "bound at time zone 'UTC'" } else { "bound" };
            let each =
                format!("select ({shown})::text from unnest(current_setting('{BOUNDS}')::{kind}[]) as bound");
            let values = self.session.rows(&each, &[(BOUNDS, &found[0])])?;
            let distinct = found[1].parse().map_err(|_| self.database.unexpected(&found[1]))?;
            Ok(Bounds { values: values.into_iter().flatten().flatten().collect(), distinct })
        });
        bounds.collect()
    }

    fn hashes(
        &mut self,
        cut: &Cut,
        side: usize,
        fields: &[Hashing],
        only: Option<&[Segment]>,
    ) -> Result<Hashes, Error> {
        let is_inexact = |field: &&Hashing| {
            self.described[field.column].digits.is_some_and(|digits| digits != Digits::Whole)
        };
        let numbers: Vec<usize> = fields.iter().filter(is_inexact).map(|field| field.column).collect();
        let summed = || fields.iter().filter(|field| field.is_summed);
        let condition =
            only.map_or_else(String::new, |only| format!("where {}", self.condition(cut, side, only)));
        let statement = format!(
            "select {}, count(*)::text, sum({})::text{}{} from {} {condition} group by 1",
            self.number(cut, side),
            self.hash(cut, side, fields),
            summed().map(|field| self.total(field.column)).collect::<String>(),
            numbers.iter().map(|column| self.extent(*column)).collect::<String>(),
            self.query.source()
        );
        let bounds = array(&cut.bounds);
        let settings: Vec<(&str, &str)> = HASHING.into_iter().chain([(BOUNDS, bounds.as_str())]).collect();
        let mut hashes = Hashes::new();
        let mut extents = vec![Extent::default(); numbers.len()];
        for row in self.session.rows(&statement, &settings)? {
            let unexpected = || self.database.unexpected(&format!("{row:?}"));
            let (segment, hash, found) = Hash::split(&row, summed().count()).ok_or_else(unexpected)?;
            hashes.insert(segment, hash);
            for (extent, found) in extents.iter_mut().zip(found.chunks_exact(3)) {
                found[..2].iter().flatten().for_each(|numeral| extent.widen_shown(numeral));
                if let Some(scale) = &found[2] {
                    extent.widen_scale(scale.parse().map_err(|_| unexpected())?);
                }
            }
        }
        let names = numbers.iter().map(|column| self.columns[*column].name.clone());
        self.extents = names.zip(extents).collect();
        Ok(hashes)
    }

    fn read(&mut self, cut: &Cut, side: usize, only: &[Segment]) -> Result<Table, Error> {
        let condition = self.condition(cut, side, only);
        let query = format!("select * from {} where {condition}", self.query.source());
        self.session.copy(&Query { pieces: vec![query], values: Vec::new() }, &self.extents)
    }

    fn read_all(&mut self) -> Result<Table, Error> {
        self.session.copy(self.query, &Extents::new())
    }
}

impl HashedQuery<'_> {
    /// The hash of a row; of one with a value that cannot be read, the number of the side, which no other table has.
    fn hash(&self, cut: &Cut, side: usize, fields: &[Hashing]) -> String {
        let hash = match cut.form {
            Form::Binary => {
                let values: Vec<String> = fields.iter().map(|field| self.value(field)).collect();
                // What is hashed is the binary form of a row, in which every field comes with its length, and NULL has none. Only an array lets bytes be hashed.
                let row = format!("array[record_send(row({}))]", values.join(", "));
                format!("hash_array_extended({row}, {})", cut.seed)
            }
            Form::Text => {
                let values: Vec<String> = fields
                    .iter()
                    .map(|field| self.text(field))
                    .map(|text| format!("coalesce(char_length({text}) || ':' || {text}, '-')"))
                    .collect();
                let row = format!("convert_to('{}' || {}, 'UTF8')", cut.seed, values.join(" || "));
                format!("('x' || substr(md5({row}), 1, 16))::bit(64)::int8")
            }
        };
        let conditions: Vec<String> = fields.iter().filter_map(|field| self.is_readable(field)).collect();
        if conditions.is_empty() {
            return hash;
        }
        format!("case when {} then {hash} else {side} end", conditions.join(" and "))
    }

    /// Whether a value can be read, where it may not.
    fn is_readable(&self, field: &Hashing) -> Option<String> {
        let Column { name, cell, .. } = &self.columns[field.column];
        let is_number = self.described[field.column].is_number();
        let condition = match cell {
            Cell::Date | Cell::Timestamp | Cell::Instant => format!("between {MOMENTS}"),
            _ if field.written == Written::Truth && is_number => "in (0, 1)".to_owned(),
            _ => return None,
        };
        Some(format!("coalesce({} {condition}, true)", quoted(name)))
    }

    /// A value in a type that is the same on every server.
    fn value(&self, field: &Hashing) -> String {
        let Column { name, cell, .. } = &self.columns[field.column];
        let name = quoted(name);
        match field.written {
            Written::Trimmed => return format!("trim_scale({name}::numeric)"),
            Written::Truth if self.described[field.column].is_number() => return format!("({name} <> 0)"),
            _ => {}
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

    /// A value as text that other databases write too.
    fn text(&self, field: &Hashing) -> String {
        let value = self.value(field);
        match self.columns[field.column].cell {
            _ if field.written == Written::Truth => format!("({value}::int::text)"),
            Cell::Text => value,
            Cell::Bytes => format!("encode({value}, 'hex')"),
            Cell::Instant => format!("({value} at time zone 'UTC')::text"),
            _ => format!("({value}::text)"),
        }
    }

    fn total(&self, column: usize) -> String {
        format!(", sum({})::text", quoted(&self.columns[column].name))
    }

    /// What tells how many digits the numbers of a column need.
    fn extent(&self, column: usize) -> String {
        let value = self.columns[column].value();
        // Where the scale is declared, only values that are no number are unknown, and these are above all others.
        let least = if self.described[column].digits == Some(Digits::Free) {
            format!("min({value})::text, max(scale({value}))::text")
        } else {
            "null, null".to_owned()
        };
        format!(", max({value})::text, {least}")
    }

    /// A column in an order that is the same in every database.
    fn key(&self, column: usize, order: Order) -> String {
        let name = quoted(&self.columns[column].name);
        // Otherwise the column as it is, as indices have it.
        if order == Order::Text { format!("{name}::text collate \"C\"") } else { name }
    }

    /// The number of the segment that a row is in.
    fn number(&self, cut: &Cut, side: usize) -> String {
        let kind = sql_type(cut.order);
        let key = self.key(cut.columns[side], cut.order);
        // In a query of its own, so that it is read once and not for each row.
        let bounds = format!("(select current_setting('{BOUNDS}')::{kind}[])");
        let cast = if cut.order == Order::Text { String::new() } else { format!("::{kind}") };
        format!("coalesce(width_bucket({key}{cast}, {bounds}), {})", Segment::NULL)
    }

    fn condition(&self, cut: &Cut, side: usize, only: &[Segment]) -> String {
        let key = self.key(cut.columns[side], cut.order);
        let literal = |bound: &str| format!("{}::{}", literal(bound), sql_type(cut.order));
        cut.condition(only, &key, &self.number(cut, side), literal)
    }
}

fn described(column: &Column) -> HashedColumn {
    let data_type = column.cell.data_type();
    let digits = match column.cell {
        Cell::Int16 | Cell::Int32 | Cell::Int64 => Some(Digits::Whole),
        // The precision is above the scale, and both behind a header of 4 bytes.
        Cell::Numeric(_) if column.modifier >= 4 => Some(Digits::Scaled((column.modifier - 4) & 0x7ff)),
        Cell::Numeric(_) => Some(Digits::Free),
        _ => None,
    };
    let order = if column.kind == Type::UUID { Some(Order::Uuid) } else { Order::of(&data_type) };
    HashedColumn { name: column.name.clone(), data_type, order, digits }
}

/// Values as an array of the server.
fn array(values: &[String]) -> String {
    let escaped = |value: &String| format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""));
    format!("{{{}}}", values.iter().map(escaped).collect::<Vec<_>>().join(","))
}

/// Text as SQL has it, whatever the server takes a backslash for.
fn literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
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
