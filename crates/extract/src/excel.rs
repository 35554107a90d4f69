//! Workbooks of Excel, and those that others write alike: one sheet is a table.
//!
//! A sheet is read once, and kept on disk as text: numbers as their shortest numeral, dates and times as ISO 8601 has them, so that
//! columns of mixed cells mean what they would in a CSV file. A row without any text in it is no row.

mod cell;
mod rows;
mod workbook;

use arrow_schema::Field;

use crate::Options;
use crate::error::{Error, guarded};
use crate::input::Input;
use crate::ipc::IpcFile;
use crate::table::{Found, Parts, Source, Wanted};
use rows::Rows;
use workbook::Workbook;

/// One sheet, as it was kept.
pub(crate) struct Sheet {
    name: String,
    kept: IpcFile,
    has_header: bool,
    /// Where rows of the sheet begin to follow on each other: the number of the first in the table, and in the sheet, from 1.
    runs: Vec<(u64, u64)>,
}

/// Reads a sheet of a workbook.
pub(crate) fn open(input: &Input, options: &Options) -> Result<Sheet, Error> {
    // The reader panics on some workbooks that are damaged.
    let read = || Ok::<_, String>(read(input, options));
    guarded(read).map_err(|problem| input.damaged(problem))?
}

fn read(input: &Input, options: &Options) -> Result<Sheet, Error> {
    let mut workbook = Workbook::open(input)?;
    let name = workbook.sheet(options.sheet.as_deref())?;
    let mut rows = Rows::new(input, &name, workbook.starts_in_1904(), options);
    workbook.each_cell(&name, &mut |row, column, value| rows.take(row, column, value))?;
    rows.finish()
}

impl Source for Sheet {
    fn fields(&self) -> &[Field] {
        self.kept.fields()
    }

    fn rows_hint(&self) -> Option<u64> {
        self.kept.rows_hint()
    }

    fn described(&self) -> String {
        format!("Excel, sheet {}, {}", self.name, if self.has_header { "header" } else { "no header" })
    }

    fn place(&self, nth: usize, row: usize) -> Result<Found, Error> {
        let Found::Row(number) = self.kept.place(nth, row)? else {
            return self.kept.place(nth, row);
        };
        let run = self.runs.partition_point(|(first, _)| *first <= number).saturating_sub(1);
        let (first, in_sheet) = self.runs.get(run).copied().unwrap_or_default();
        Ok(Found::InSheet(self.name.clone(), in_sheet + (number - first)))
    }

    fn parts<'a>(&'a self, wanted: Wanted<'a>) -> Result<Box<dyn Parts<'a> + 'a>, Error> {
        self.kept.parts(wanted)
    }
}
