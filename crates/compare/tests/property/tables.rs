//! Random comparisons: sources that derive from one table by small edits, each in types of its own.

pub(crate) mod cell;
mod encoding;
pub(crate) mod random;
mod wishes;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_cast::display::array_value_to_string;
use arrow_schema::{Field, Schema};
use trueup_compare::{Aggregate, MemoryTable, Rule, Spec};

use crate::oracle::{Column, Ratio, Row};
use cell::{Cell, DAY, Kind, SECOND};
use random::Random;

/// One random comparison.
pub(crate) struct Case {
    pub columns: Vec<Column>,
    pub kinds: Vec<Kind>,
    /// Columns that are floats in every source, not all of them doubles: what their sums are rounded to is open.
    pub singles: Vec<String>,
    pub spec: Spec,
    pub sources: Vec<Sheet>,
}

impl std::fmt::Display for Case {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(out, "{:#?}", self.spec)?;
        for sheet in &self.sources {
            writeln!(out, "{} {:?} {:?}", sheet.name, sheet.timezone, sheet.renames)?;
            for (field, column) in sheet.batch.schema().fields().iter().zip(sheet.batch.columns()) {
                let shown = |row| array_value_to_string(column, row).unwrap_or_default();
                let shown: Vec<String> = (0..column.len())
                    .map(|row| if column.is_null(row) { "NULL".into() } else { shown(row) })
                    .collect();
                writeln!(out, "  {} {}: {}", field.name(), field.data_type(), shown.join(" | "))?;
            }
        }
        Ok(())
    }
}

/// One source of a case.
pub(crate) struct Sheet {
    pub name: String,
    pub rows: Vec<Row>,
    pub batch: RecordBatch,
    pub renames: BTreeMap<String, String>,
    pub timezone: Option<String>,
}

impl Sheet {
    /// The rows as a table, in another order if asked, in parts and batches of random sizes up to `most` rows.
    pub(crate) fn table(&self, shuffled: bool, most: usize, random: &mut Random) -> MemoryTable {
        let mut order: Vec<u32> = (0..u32::try_from(self.batch.num_rows()).expect("few rows")).collect();
        if shuffled {
            random.shuffle(&mut order);
        }
        let batch =
            arrow_select::take::take_record_batch(&self.batch, &UInt32Array::from(order)).expect("all rows");
        let mut parts = vec![Vec::new()];
        let mut start = 0;
        while start < batch.num_rows() {
            let length = (1 + random.below(most)).min(batch.num_rows() - start);
            if random.percent(40) {
                parts.push(Vec::new());
            }
            parts.last_mut().expect("a part").push(batch.slice(start, length));
            start += length;
        }
        MemoryTable::new(parts, self.batch.schema())
    }
}

/// Makes the case of a seed, of about so many rows per source.
pub(crate) fn case(seed: u64, most_rows: usize) -> Case {
    let random = &mut Random::new(seed);
    let sources = random.pick(&[2, 2, 2, 3, 3, 4, 5]);
    let zoned: Vec<bool> = (0..sources).map(|_| random.percent(15)).collect();
    let (names, kinds) = wishes::columns(zoned.contains(&true), random);
    let spec = wishes::spec(&names, &kinds, sources, random);
    let base = base(&names, &kinds, &spec, most_rows, random);
    let edits = random.pick(&[0, 1, 5, 30]);
    let sheets: Vec<Vec<Vec<Cell>>> =
        (0..sources).map(|_| derive(&base, &names, &kinds, &spec, edits, random)).collect();
    encode(&names, &kinds, spec, &sheets, &zoned, random)
}

/// The table all sources come from.
fn base(
    names: &[String],
    kinds: &[Kind],
    spec: &Spec,
    most_rows: usize,
    random: &mut Random,
) -> Vec<Vec<Cell>> {
    let rows = match random.below(12) {
        0 => random.below(2),
        1 => most_rows * 6,
        _ => random.below(most_rows.max(1)),
    };
    let (range, skewed) = random.pick(&[
        (rows * 20, false),
        (rows * 20, false),
        (rows, false),
        (rows / 3, false),
        (rows, true),
    ]);
    let null_columns: Vec<bool> = kinds.iter().map(|_| random.percent(2)).collect();
    let row = |random: &mut Random| {
        let number = if skewed && random.percent(80) { 0 } else { random.below(range.max(1)) };
        let cell = |index: usize, random: &mut Random| {
            let is_key = spec.key.contains(&names[index]);
            if null_columns[index] || random.percent(if is_key { 2 } else { 4 }) {
                Cell::Null
            } else if is_key {
                cell::numbered(kinds[index], number)
            } else {
                cell::any(kinds[index], random)
            }
        };
        (0..kinds.len()).map(|index| cell(index, random)).collect()
    };
    (0..rows).map(|_| row(random)).collect()
}

/// The base with rows missing, added and repeated, and values changed.
fn derive(
    base: &[Vec<Cell>],
    names: &[String],
    kinds: &[Kind],
    spec: &Spec,
    edits: usize,
    random: &mut Random,
) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for row in base {
        if random.percent(edits / 3) {
            continue;
        }
        for _ in 0..=usize::from(random.percent(edits / 4)) {
            rows.push(row.clone());
        }
        if random.percent(edits / 4) {
            let mut added = row.clone();
            let place = random.below(kinds.len());
            added[place] = cell::any(kinds[place], random);
            rows.push(added);
        }
    }
    for row in &mut rows {
        for index in 0..kinds.len() {
            if !spec.key.contains(&names[index]) && random.percent(edits) {
                row[index] = edited(&row[index], &names[index], kinds[index], spec, random);
            }
        }
    }
    random.shuffle(&mut rows);
    rows
}

/// A value on the rim of its tolerance, a little inside or a little outside; or any other.
fn edited(cell: &Cell, name: &str, kind: Kind, spec: &Spec, random: &mut Random) -> Cell {
    if random.percent(8) {
        return Cell::Null;
    }
    let measured =
        spec.measures.iter().find(|measure| measure.column == name).map_or(name, |measure| &measure.name);
    let rule =
        spec.tolerances.get(measured).or_else(|| spec.tolerances.get(name)).map(|tolerance| &tolerance.rule);
    let ten_thousandths = |ratio: Ratio| ratio.times(&Ratio::from(10_000)).floor();
    match (cell, rule) {
        (Cell::Decimal(digits, 4), Some(rule @ (Rule::Absolute(_) | Rule::Percentage { .. }))) => {
            let step = match rule {
                Rule::Percentage { value, .. } => {
                    ten_thousandths(Ratio::from(value).times(&Ratio::new(*digits, 1_000_000)).magnitude())
                }
                Rule::Absolute(value) => ten_thousandths(Ratio::from(value)),
                _ => 0,
            };
            let step = step + random.pick(&[-1, 0, 0, 0, 1]);
            Cell::Decimal(digits + random.pick(&[step, -step]), 4)
        }
        (Cell::Decimal(digits, 0), Some(_)) if kind == Kind::Integer => {
            Cell::Decimal(digits + random.pick(&[1, -1, 2]), 0)
        }
        (Cell::Nanos(nanos), Some(Rule::Duration { from, to })) if kind != Kind::Time => {
            let seconds = random.pick(&[Ratio::from(from), Ratio::from(to)]).floor();
            let moved = nanos + seconds * SECOND + random.pick(&[0, 0, SECOND, -SECOND, 1, 1_000_000]);
            Cell::Nanos(if kind == Kind::Date { moved.div_euclid(DAY) * DAY } else { moved })
        }
        _ => cell::any(kind, random),
    }
}

fn encode(
    names: &[String],
    kinds: &[Kind],
    spec: Spec,
    sheets: &[Vec<Vec<Cell>>],
    zoned: &[bool],
    random: &mut Random,
) -> Case {
    let (mut columns, mut singles) = (Vec::new(), Vec::new());
    let mut arrays: Vec<Vec<ArrayRef>> = vec![Vec::new(); sheets.len()];
    for (index, name) in names.iter().enumerate() {
        let summed = spec.measures.iter().any(|measure| {
            measure.column == *name && matches!(measure.aggregate, Aggregate::Sum | Aggregate::Avg)
        });
        let encoded = loop {
            let encode = |(rows, &naive): (&Vec<Vec<Cell>>, &bool)| {
                let cells: Vec<Cell> = rows.iter().map(|row| row[index].clone()).collect();
                encoding::encode(kinds[index], &cells, naive, random)
            };
            let encoded: Vec<encoding::Encoded> = sheets.iter().zip(zoned).map(encode).collect();
            let floats = encoded.iter().all(|column| column.is_double || column.is_single);
            let single = floats && encoded.iter().any(|column| column.is_single);
            if single {
                singles.push(name.clone());
            }
            if !(summed && single) {
                break encoded;
            }
        };
        columns.push(Column {
            name: name.clone(),
            float: encoded.iter().all(|column| column.is_double),
            precision: encoded.iter().map(|column| column.precision).max().unwrap_or(1),
        });
        for (arrays, column) in arrays.iter_mut().zip(encoded) {
            arrays.push(column.array);
        }
    }
    let sheet = |(source, arrays): (usize, Vec<ArrayRef>)| {
        let (batch, renames) =
            batch(names, arrays, sheets[source].len(), source > 0 && random.percent(50), random);
        Sheet {
            name: format!("source_{source}"),
            rows: sheets[source].iter().map(|row| row.iter().map(Cell::value).collect()).collect(),
            batch,
            renames,
            timezone: zoned[source].then(|| encoding::ZONE.to_owned()),
        }
    };
    let sources = arrays.into_iter().enumerate().map(sheet).collect();
    Case { columns, kinds: kinds.to_vec(), singles, spec, sources }
}

/// The columns, partly under names of their own; those of the first source must stay in order, as ties depend on it.
fn batch(
    names: &[String],
    arrays: Vec<ArrayRef>,
    rows: usize,
    shuffled: bool,
    random: &mut Random,
) -> (RecordBatch, BTreeMap<String, String>) {
    let mut renames = BTreeMap::new();
    let mut named: Vec<(String, ArrayRef)> = names.iter().cloned().zip(arrays).collect();
    if random.percent(30) {
        let (name, _) = &mut named[random.below(names.len())];
        let own = format!("own {name}");
        renames.insert(own.clone(), std::mem::replace(name, own));
    }
    if shuffled {
        random.shuffle(&mut named);
    }
    let fields: Vec<Field> =
        named.iter().map(|(name, array)| Field::new(name, array.data_type().clone(), true)).collect();
    let arrays = named.into_iter().map(|(_, array)| array).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    (
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
            .expect("columns of one length"),
        renames,
    )
}
