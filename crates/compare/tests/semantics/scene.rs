//! Small tables in memory, and one call that compares them.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::types::{
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{
    ArrayRef, Date32Array, Decimal128Array, Float64Array, Int64Array, NullArray, PrimitiveArray, RecordBatch,
    StringArray,
};
use arrow_schema::{Field, Schema};
use trueup_compare::{
    Aggregate, Allow, Break, BreakHeader, BreakSink, Comparison, Decimal, Limits, Measure, MemoryTable,
    Progress, Rule, Source, Spec, Tolerance, compare,
};

/// Sources and what is asked of them.
#[derive(Clone)]
pub(crate) struct Scene {
    pub tables: Vec<RecordBatch>,
    pub spec: Spec,
    pub timezones: BTreeMap<usize, &'static str>,
    /// Formats of the column `v`, by source.
    pub date_formats: BTreeMap<usize, &'static str>,
}

impl Scene {
    /// Tables with the key `k`.
    pub(crate) fn new(tables: impl IntoIterator<Item = RecordBatch>) -> Self {
        let spec = Spec { key: vec!["k".into()], limit: 1_000, ..Spec::default() };
        Self {
            tables: tables.into_iter().collect(),
            spec,
            timezones: BTreeMap::new(),
            date_formats: BTreeMap::new(),
        }
    }

    /// One column `v` per source, its rows keyed by number.
    pub(crate) fn of(columns: impl IntoIterator<Item = ArrayRef>) -> Self {
        let keyed = |column: ArrayRef| {
            let keys = (0..i64::try_from(column.len()).expect("few rows")).map(Some).collect();
            table([("k", integers(keys)), ("v", column)])
        };
        Self::new(columns.into_iter().map(keyed))
    }

    pub(crate) fn tolerance(mut self, name: &str, rule: Rule) -> Self {
        self.spec.tolerances.insert(name.into(), Tolerance { rule, allow: Allow::None });
        self
    }

    pub(crate) fn measure(mut self, aggregate: Aggregate, column: &str) -> Self {
        self.spec.measures.push(Measure {
            name: format!("{aggregate:?}({column})").to_lowercase(),
            aggregate,
            column: column.into(),
        });
        self
    }

    /// The comparison and all its breaks, or the error as a person reads it.
    pub(crate) fn run(&self) -> Result<(Comparison, Vec<Break>), String> {
        let mut breaks = Vec::new();
        let mut keep = |_: &BreakHeader, found: &Break| {
            breaks.push(found.clone());
            Ok(())
        };
        let comparison = self.compare(2, Some(BreakSink::Each(&mut keep)))?;
        Ok((comparison, breaks))
    }

    /// The comparison on so many threads, telling of every break if asked.
    pub(crate) fn compare(&self, threads: usize, sink: Option<BreakSink<'_>>) -> Result<Comparison, String> {
        let table = |batch: &RecordBatch| MemoryTable::new(parts(batch), batch.schema());
        let tables: Vec<MemoryTable> = self.tables.iter().map(table).collect();
        let format = |format: &&str| ("v".to_owned(), (*format).to_owned());
        let source = |(index, table)| Source {
            name: format!("source_{index}"),
            table: table as &MemoryTable,
            renames: BTreeMap::new(),
            timezone: self.timezones.get(&index).map(|&zone| zone.to_owned()),
            date_formats: self.date_formats.get(&index).map(format).into_iter().collect(),
        };
        let sources: Vec<Source<'_>> = tables.iter().enumerate().map(source).collect();
        let temp = tempfile::tempdir().expect("a temporary directory");
        let limits = Limits { memory: 64 << 20, threads, temp_dir: temp.path().to_owned() };
        let progress = Progress::new(sources.len());
        compare(&sources, &self.spec, &limits, &progress, sink).map_err(|error| error.to_string())
    }

    pub(crate) fn comparison(&self) -> Comparison {
        self.run().expect("a comparison").0
    }

    pub(crate) fn breaks(&self) -> Vec<Break> {
        self.run().expect("a comparison").1
    }

    /// The keys of the breaks.
    pub(crate) fn broken(&self) -> Vec<String> {
        self.breaks()
            .iter()
            .map(|found| {
                found.key.iter().map(|part| part.as_deref().unwrap_or("NULL")).collect::<Vec<_>>().join(",")
            })
            .collect()
    }
}

/// Parts small enough that a large table has some for every thread.
fn parts(batch: &RecordBatch) -> Vec<Vec<RecordBatch>> {
    const PART_ROWS: usize = 5_000;
    let part = |start| vec![batch.slice(start, PART_ROWS.min(batch.num_rows() - start))];
    (0..batch.num_rows()).step_by(PART_ROWS).map(part).collect()
}

pub(crate) fn table<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, array)| array).collect())
        .expect("columns of one length")
}

/// A text column; `∅` is NULL.
pub(crate) fn texts(texts: &[&str]) -> ArrayRef {
    Arc::new(texts.iter().map(|&text| (text != "∅").then_some(text)).collect::<StringArray>())
}

pub(crate) fn integers(integers: Vec<Option<i64>>) -> ArrayRef {
    Arc::new(Int64Array::from(integers))
}

/// Integers without NULLs.
pub(crate) fn whole(integers: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(integers.to_vec()))
}

pub(crate) fn doubles(doubles: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(doubles.to_vec()))
}

/// Decimals given in their last digits.
pub(crate) fn decimals(scale: i8, digits: &[i128]) -> ArrayRef {
    Arc::new(
        Decimal128Array::from(digits.to_vec()).with_precision_and_scale(38, scale).expect("a decimal type"),
    )
}

/// Days since 1970.
pub(crate) fn dates(days: &[i32]) -> ArrayRef {
    Arc::new(Date32Array::from(days.to_vec()))
}

pub(crate) fn nulls(count: usize) -> ArrayRef {
    Arc::new(NullArray::new(count))
}

/// Timestamps of a unit (`s`, `ms`, `us`, `ns`), with a zone if any.
pub(crate) fn stamps(unit: &str, ticks: &[i64], zone: Option<&str>) -> ArrayRef {
    let ticks = ticks.to_vec();
    match unit {
        "s" => Arc::new(PrimitiveArray::<TimestampSecondType>::from(ticks).with_timezone_opt(zone)),
        "ms" => Arc::new(PrimitiveArray::<TimestampMillisecondType>::from(ticks).with_timezone_opt(zone)),
        "us" => Arc::new(PrimitiveArray::<TimestampMicrosecondType>::from(ticks).with_timezone_opt(zone)),
        _ => Arc::new(PrimitiveArray::<TimestampNanosecondType>::from(ticks).with_timezone_opt(zone)),
    }
}

pub(crate) fn decimal(text: &str) -> Decimal {
    text.parse().unwrap_or_else(|_| panic!("{text} is a decimal"))
}

pub(crate) fn absolute(value: &str) -> Rule {
    Rule::Absolute(decimal(value))
}

pub(crate) fn seconds(from: &str, to: &str) -> Rule {
    Rule::Duration { from: decimal(from), to: decimal(to) }
}
