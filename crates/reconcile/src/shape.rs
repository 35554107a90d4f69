//! What a job says of the columns and rows of a source, done while they are read.

mod cast;
mod numerals;
mod scan;
mod survey;
pub(crate) mod text_reader;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

use arrow_buffer::BooleanBuffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use trueup_compare::single::{Format, TemporalKind, Zone};
use trueup_compare::{Kind, Selection, near_miss};
use trueup_events::outcome::RunError;
use trueup_job::{Filter, Rows, Source, Type, Value};

use crate::carry_out::Work;
use crate::condition::{Condition, Known, Reader, compile};
use crate::failure::invalid_job;
use crate::input::Declared;

use cast::Cast;
pub(crate) use numerals::Numerals;
pub(crate) use text_reader::MomentReader;

/// How many columns are named to whoever asked for one that is not there.
const NAMES_SHOWN: usize = 12;

/// What a job says of the columns and rows of a source.
pub(crate) struct Wishes {
    source: String,
    casts: BTreeMap<String, Type>,
    date_formats: BTreeMap<String, String>,
    timezone: Option<String>,
    numerals: Numerals,
    filter: Option<(Filter, Vec<Value>)>,
    /// How many threads may look at the rows beforehand.
    threads: usize,
}

impl Wishes {
    /// Takes them from a job, with the values of a run.
    pub(crate) fn of(work: &Work<'_>, source: &Source) -> Result<Self, RunError> {
        let filter = source.filter.clone().map(|filter| {
            let values = filter.values(work.arguments);
            let refused = |error| invalid_job(&format!("sources.{}.filter", source.name), error);
            values.map_err(refused).map(|values| (filter, values))
        });
        let numerals = match &source.rows {
            Rows::Files { options, .. } => Numerals {
                decimal: options.decimal_separator.unwrap_or('.'),
                thousands: options.thousands_separator,
            },
            Rows::Query { .. } | Rows::Table { .. } => Numerals::default(),
        };
        Ok(Self {
            source: source.name.clone(),
            casts: source.casts.clone(),
            date_formats: source.date_formats.clone(),
            timezone: source.timezone.map(|zone| zone.to_string()),
            numerals,
            filter: filter.transpose()?,
            threads: work.limits.threads,
        })
    }

    /// Whether rows are compared as they are read.
    fn are_none(&self) -> bool {
        self.casts.is_empty() && self.filter.is_none() && self.numerals.are_plain()
    }

    /// The columns that are cast to truth values; none if anything else is done to columns or rows.
    pub(crate) fn only_truths(&self) -> Option<Vec<&str>> {
        let truths = self.casts.iter().map(|(column, to)| (*to == Type::Boolean).then_some(column.as_str()));
        truths.collect::<Option<_>>().filter(|_| self.filter.is_none() && self.numerals.are_plain())
    }

    fn refused(&self, field: &str, what: impl std::fmt::Display) -> RunError {
        invalid_job(&format!("sources.{}.{field}", self.source), what)
    }
}

/// How the columns and rows of a table become those that are compared.
pub(crate) struct Shape {
    /// With the types that casts give.
    schema: SchemaRef,
    /// The new names of the columns.
    names: Vec<String>,
    casts: HashMap<usize, Cast>,
    condition: Option<Condition>,
    numerals: Numerals,
    /// The text columns that hold nothing but numbers, though not written as everybody else writes them here.
    numeral_columns: HashSet<usize>,
    threads: usize,
    /// Text columns that have a date format of their own.
    dates: HashSet<usize>,
    /// The rows kept of each part that was read whole.
    kept: Mutex<HashMap<usize, BooleanBuffer>>,
    chosen: OnceLock<Box<Chosen>>,
}

/// Rows of the table that somebody chose among those kept; they live as long as the table, since scans borrow them.
struct Chosen {
    rows: Selection,
    next: OnceLock<Box<Chosen>>,
}

impl Shape {
    /// Holds what a job says against the columns of a table; there is no shape if it says nothing.
    pub(crate) fn new(
        wishes: &Wishes,
        declared: &Declared,
        schema: &SchemaRef,
    ) -> Result<Option<Self>, RunError> {
        if wishes.are_none() {
            return Ok(None);
        }
        let new_name =
            |field: &Arc<Field>| declared.renames.get(field.name()).unwrap_or(field.name()).clone();
        let names: Vec<String> = schema.fields().iter().map(new_name).collect();
        let zone = wishes.timezone.as_deref().map(Zone::named).transpose();
        let zone = zone.map_err(|error| wishes.refused("timezone", error))?.map(Arc::new);
        let formats = formats(wishes)?;
        let casts = casts(wishes, &names, &formats, zone.as_ref())?;
        let fields = schema.fields().iter().enumerate().map(|(index, field)| match casts.get(&index) {
            Some(cast) => field.as_ref().clone().with_data_type(cast.data_type(field.data_type())),
            None => field.as_ref().clone(),
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let is_date = |index: &usize| formats.contains_key(&names[*index]);
        let mut shape = Self {
            dates: (0..names.len()).filter(is_date).collect(),
            schema,
            names,
            casts,
            condition: None,
            numerals: wishes.numerals,
            numeral_columns: HashSet::new(),
            threads: wishes.threads,
            kept: Mutex::default(),
            chosen: OnceLock::new(),
        };
        if let Some((filter, values)) = &wishes.filter {
            let known = (0..shape.names.len()).map(|index| shape.known(index, &formats, zone.as_ref()));
            let known: Vec<Known> = known.collect();
            let condition = compile(filter.condition(), values, &known, shape.numerals, zone);
            shape.condition = Some(condition.map_err(|problem| wishes.refused("filter", problem))?);
        }
        Ok(Some(shape))
    }

    /// The columns with the types that casts give.
    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// What a column was cast to.
    pub(crate) fn cast_name(&self, index: usize) -> Option<&'static str> {
        self.casts.get(&index).map(|cast| cast.to.name())
    }

    /// What a filter can know of a column.
    fn known(&self, index: usize, formats: &BTreeMap<String, Format>, zone: Option<&Arc<Zone>>) -> Known {
        let (name, data_type) = (&self.names[index], self.schema.field(index).data_type());
        let is_text = is_text(data_type);
        let of_moments = |kind: TemporalKind, format: Option<&Format>| {
            let reader = MomentReader { kind, format: format.cloned(), zone: zone.cloned() };
            (kind_of(kind), Some(Reader::Moment(reader)))
        };
        let cast = self.casts.get(&index).map(|cast| cast.to);
        let (kind, reader) = match (cast, formats.get(name)) {
            _ if !is_text => (Kind::of(data_type), None),
            (None, Some(format)) => of_moments(format.kind(), Some(format)),
            // What was cast is written in one way from there on.
            (Some(Type::Integer | Type::Decimal), _) => {
                (Kind::Number, Some(Reader::Number(Numerals::default())))
            }
            (Some(Type::Date), _) => of_moments(TemporalKind::Date, None),
            (Some(Type::Timestamp), _) => of_moments(TemporalKind::Timestamp, None),
            (Some(Type::Instant), _) => of_moments(TemporalKind::Instant, None),
            _ => (Kind::Text, None),
        };
        let is_simple = is_text || kind != Kind::Text;
        let is_integer = data_type.is_integer() && data_type != &DataType::UInt64;
        Known { name: name.clone(), kind, reader, is_simple, is_integer }
    }
}

fn formats(wishes: &Wishes) -> Result<BTreeMap<String, Format>, RunError> {
    let compiled = wishes.date_formats.iter().map(|(column, format)| {
        let format = Format::compile(format);
        let refused = |error| wishes.refused(&format!("date_formats.{column}"), error);
        Ok((column.clone(), format.map_err(refused)?))
    });
    compiled.collect()
}

fn casts(
    wishes: &Wishes,
    names: &[String],
    formats: &BTreeMap<String, Format>,
    zone: Option<&Arc<Zone>>,
) -> Result<HashMap<usize, Cast>, RunError> {
    let mut casts = HashMap::new();
    for (column, to) in &wishes.casts {
        let Some(index) = names.iter().position(|name| name == column) else {
            return Err(wishes.refused("casts", no_such_column(column, names)));
        };
        let format = formats.get(column).cloned();
        casts.insert(index, Cast { to: *to, numerals: wishes.numerals, format, zone: zone.cloned() });
    }
    Ok(casts)
}

/// Says that there is no such column, and which may have been meant.
pub(crate) fn no_such_column(column: &str, names: &[String]) -> String {
    if let Some(near) = near_miss(column, names.iter().map(String::as_str)) {
        return format!("there is no column `{column}`; did you mean `{near}`?");
    }
    let more = if names.len() > NAMES_SHOWN { ", …" } else { "" };
    let names = names[..names.len().min(NAMES_SHOWN)].join(", ");
    format!("there is no column `{column}`; there are {names}{more}")
}

/// Whether values of a type are texts, however they are stored.
fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        DataType::RunEndEncoded(_, values) => is_text(values.data_type()),
        _ => false,
    }
}

fn kind_of(kind: TemporalKind) -> Kind {
    match kind {
        TemporalKind::Date => Kind::Date,
        TemporalKind::Timestamp => Kind::Timestamp,
        TemporalKind::Instant => Kind::Instant,
        TemporalKind::Time => Kind::Time,
    }
}
