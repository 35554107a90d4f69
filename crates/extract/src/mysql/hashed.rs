//! A query of MySQL or MariaDB that is hashed by the server, range by range of its key.

use arrow_schema::DataType;

use super::Session;
use super::column::Column;
use super::definition::Definition;
use crate::checksum::{
    Bounds, Cut, Digits, Hash, Hashed, HashedColumn, Hashes, Hashing, Order, Segment, TYPED_CHARACTERS,
    Values, Wanted, Written,
};
use crate::database::{Database, Query, ticked};
use crate::error::{Error, Refused};
use crate::table::Table;

/// A query, hashed where its rows are.
pub(crate) struct HashedQuery<'a> {
    session: Session<'a>,
    database: &'a Database<'a>,
    query: &'a Query,
    columns: Vec<HashedColumn>,
}

impl<'a> HashedQuery<'a> {
    pub(crate) fn open(database: &'a Database<'a>, query: &'a Query) -> Result<Self, Error> {
        let mut session = Session::open(database)?;
        let definitions = session.columns(query)?;
        let columns = definitions.iter().map(described).collect::<Result<_, _>>();
        let columns = columns.map_err(|problem| database.refused(Refused::Query, problem))?;
        Ok(Self { session, database, query, columns })
    }
}

impl Hashed for HashedQuery<'_> {
    fn columns(&self) -> &[HashedColumn] {
        &self.columns
    }

    fn values(&mut self, columns: &[usize]) -> Result<Vec<Values>, Error> {
        let source = self.query.source();
        let looks = columns.iter().flat_map(|&column| {
            let value = self.text(column, Written::Plain);
            let exists =
                |condition: &str| format!("concat(exists (select 1 from {source} where {condition}))");
            let is_text = format!("{value} collate utf8mb4_bin regexp '[^{TYPED_CHARACTERS}]'");
            [exists(&is_text), exists(&format!("{value} is not null"))]
        });
        let looks: Vec<String> = looks.collect();
        if looks.is_empty() {
            return Ok(Vec::new());
        }
        let told = self.session.rows(&format!("select {}", looks.join(", ")))?;
        let told: Vec<bool> = told.iter().flatten().map(|found| found.as_deref() == Some("1")).collect();
        Ok(told.chunks_exact(2).map(|found| Values::of(found[0], found[1])).collect())
    }

    fn rows_expected(&mut self) -> Result<u64, Error> {
        let told = self.session.rows(&format!("select concat(count(*)) from {}", self.query.source()))?;
        let rows = told.into_iter().flatten().flatten().next().unwrap_or_default();
        rows.parse().map_err(|_| self.database.unexpected(&rows))
    }

    fn bounds(&mut self, wanted: &[Wanted], share: f64) -> Result<Vec<Bounds>, Error> {
        let bounds = wanted.iter().map(|&Wanted { column, order, segments }| {
            let value = self.text(column, Written::Plain);
            let is_readable = self.is_readable(column, Written::Plain).map(|it| format!("and {it}"));
            let drawn = format!(
                "select {value} from {} where rand() < {share} and {value} is not null {} order by {}",
                self.query.source(),
                is_readable.unwrap_or_default(),
                self.key(column, order)
            );
            let mut values: Vec<String> =
                self.session.rows(&drawn)?.into_iter().flatten().flatten().collect();
            let cuts = (1..segments).filter_map(|at| values.get(at * values.len() / segments).cloned());
            let cuts = cuts.collect();
            values.dedup();
            Ok(Bounds { values: cuts, distinct: values.len() })
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
        let summed = || fields.iter().filter(|field| field.is_summed);
        let condition =
            only.map_or_else(String::new, |only| format!("where {}", self.condition(cut, side, only)));
        let statement = format!(
            "select concat({}), concat(count(*)), concat(sum({})){} from {} {condition} group by 1",
            self.number(cut, side),
            self.hash(cut, side, fields),
            summed().map(|field| self.total(field.column)).collect::<String>(),
            self.query.source()
        );
        let rows = self.session.rows(&statement)?;
        let hashes = rows.iter().map(|row| {
            let (segment, hash, _) = Hash::split(row, summed().count())
                .ok_or_else(|| self.database.unexpected(&format!("{row:?}")))?;
            Ok((segment, hash))
        });
        hashes.collect()
    }

    fn read(&mut self, cut: &Cut, side: usize, only: &[Segment]) -> Result<Table, Error> {
        let condition = self.condition(cut, side, only);
        let query = format!("select * from {} where {condition}", self.query.source());
        self.session.copy(&Query { pieces: vec![query], values: Vec::new() })
    }

    fn read_all(&mut self) -> Result<Table, Error> {
        self.session.copy(self.query)
    }
}

impl HashedQuery<'_> {
    /// The hash of a row; of one that cannot be read, or is longer than the server's functions deliver, the number of the
    /// side, which no other table has.
    fn hash(&self, cut: &Cut, side: usize, fields: &[Hashing]) -> String {
        let fields_of = fields.iter().map(|&Hashing { column, written, .. }| {
            let text = self.text(column, written);
            format!("coalesce(concat(char_length({text}), ':', {text}), '-')")
        });
        let row = format!("concat('{}', {})", cut.seed, fields_of.collect::<Vec<_>>().join(", "));
        let hash = format!("cast(conv(substr(md5({row}), 1, 16), 16, -10) as signed)");
        let readable = fields.iter().filter_map(|field| self.is_readable(field.column, field.written));
        let conditions: Vec<String> = readable.collect();
        if conditions.is_empty() {
            return format!("coalesce({hash}, {side})");
        }
        format!("coalesce(if({}, {hash}, null), {side})", conditions.join(" and "))
    }

    fn total(&self, column: usize) -> String {
        format!(", concat(sum({} + 0))", ticked(&self.columns[column].name))
    }

    /// Whether a value can be read, where it may not: MySQL has dates that are none, and times of more than a day.
    fn is_readable(&self, column: usize, written: Written) -> Option<String> {
        let HashedColumn { name, data_type, .. } = &self.columns[column];
        let name = ticked(name);
        let condition = match data_type {
            DataType::Date32 | DataType::Timestamp(..) => {
                format!("day({name}) between 1 and day(last_day({name}))")
            }
            DataType::Time64(_) => format!("{name} between '00:00:00' and '23:59:59.999999'"),
            _ if written == Written::Truth => format!("{name} in (0, 1)"),
            _ => return None,
        };
        Some(format!("coalesce({condition}, {name} is null)"))
    }

    /// A value as text that other databases write too.
    fn text(&self, column: usize, written: Written) -> String {
        let HashedColumn { name, data_type, digits, .. } = &self.columns[column];
        let name = ticked(name);
        let trimmed = |text: &str| format!("trim(trailing '.' from trim(trailing '0' from {text}))");
        match (data_type, digits) {
            // A sum has no zeros in front, which numbers may be declared to have.
            (_, Some(Digits::Scaled(1..))) if written == Written::Trimmed => trimmed(&format!("{name} + 0")),
            (_, Some(_)) => format!("concat({name} + 0)"),
            (DataType::Date32, _) => format!("concat({name})"),
            (DataType::Time64(_), _) => trimmed(&format!("cast({name} as time(6))")),
            (DataType::Timestamp(..), _) => trimmed(&format!("cast({name} as datetime(6))")),
            (DataType::BinaryView, _) => format!("lower(hex({name}))"),
            _ => format!("convert({name} using utf8mb4)"),
        }
    }

    /// A column in an order that is the same in every database.
    fn key(&self, column: usize, order: Order) -> String {
        if order == Order::Text {
            return format!("cast({} as binary)", self.text(column, Written::Plain));
        }
        ticked(&self.columns[column].name)
    }

    /// The number of the segment that a row is in.
    fn number(&self, cut: &Cut, side: usize) -> String {
        let key = self.key(cut.columns[side], cut.order);
        let literals: Vec<String> = cut.bounds.iter().map(|bound| literal(cut.order, bound)).collect();
        format!("if({key} is null, {}, {})", Segment::NULL, halved(&key, &literals, 0))
    }

    fn condition(&self, cut: &Cut, side: usize, only: &[Segment]) -> String {
        let key = self.key(cut.columns[side], cut.order);
        cut.condition(only, &key, &self.number(cut, side), |bound| literal(cut.order, bound))
    }
}

/// How many of some bounds, and those before them, are not above a value.
fn halved(key: &str, bounds: &[String], before: usize) -> String {
    let middle = bounds.len() / 2;
    let Some(bound) = bounds.get(middle) else { return before.to_string() };
    let below = halved(key, &bounds[..middle], before);
    let above = halved(key, &bounds[middle + 1..], before + middle + 1);
    format!("if({key} < {bound}, {below}, {above})")
}

fn described(definition: &Definition) -> Result<HashedColumn, String> {
    let column = Column::of(definition)?;
    let name = definition.name.clone();
    let data_type = column.field(&name).data_type().clone();
    let digits = match column {
        Column::Signed(..) | Column::Unsigned(..) | Column::Bits(_) => Some(Digits::Whole),
        Column::Decimal(scale, _) => Some(Digits::Scaled(scale.into())),
        _ => None,
    };
    Ok(HashedColumn { name, order: Order::of(&data_type), data_type, digits })
}

/// A bound as SQL has it.
fn literal(order: Order, bound: &str) -> String {
    match order {
        Order::Integer | Order::Decimal => bound.to_owned(),
        Order::Date => format!("date'{bound}'"),
        Order::Timestamp | Order::Instant => format!("timestamp'{bound}'"),
        Order::Uuid | Order::Text => {
            let digits: Vec<String> = bound.bytes().map(|byte| format!("{byte:02x}")).collect();
            format!("x'{}'", digits.concat())
        }
    }
}
