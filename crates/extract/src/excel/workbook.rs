//! A workbook, whatever it was written as, and the cells of its sheets.

use std::fmt::Display;
use std::io::BufReader;

use calamine::{
    Cell, Data, DataRef, Ods, Range, Reader as _, Sheet, SheetType, SheetVisible, Sheets, Xls, Xlsb, Xlsx,
};

use crate::error::Error;
use crate::find::alike;
use crate::format::OLE;
use crate::input::{Input, Reader};

/// A workbook whose list of sheets has been read, and the texts that its cells share.
pub(super) struct Workbook<'a> {
    input: &'a Input,
    sheets: Sheets<BufReader<Reader>>,
}

/// Is given the row and the column of a cell, from 0, and what is in it.
pub(super) type Take<'t> = dyn FnMut(u32, u32, &DataRef<'_>) -> Result<(), Error> + 't;

impl<'a> Workbook<'a> {
    pub(super) fn open(input: &'a Input) -> Result<Self, Error> {
        let bytes = input.open()?;
        let reader = || BufReader::with_capacity(1 << 16, bytes.reader(0));
        let is_old = input.ends()?.0.starts_with(OLE);
        let first = match Xlsx::new(reader()) {
            Ok(workbook) => return Ok(Self { input, sheets: Sheets::Xlsx(workbook) }),
            Err(error) => error.to_string(),
        };
        let sheets = if is_old {
            Xls::new(reader()).map(Sheets::Xls).map_err(|error| error.to_string())
        } else {
            // What is neither of the others was to be the usual.
            (Xlsb::new(reader()).map(Sheets::Xlsb).ok())
                .or_else(|| Ods::new(reader()).map(Sheets::Ods).ok())
                .ok_or_else(|| first.clone())
        };
        let sheets = sheets.map_err(|error| {
            // Both readers of old workbooks know of passwords, each of its own.
            let is_locked = [&first, &error].iter().any(|problem| problem.contains("password"));
            if is_locked { locked(input) } else { input.damaged(error) }
        })?;
        Ok(Self { input, sheets })
    }

    /// The name of the sheet that is meant: the one of that name, or the first that can be seen.
    pub(super) fn sheet(&self, name: Option<&str>) -> Result<String, Error> {
        let is_table = |sheet: &&Sheet| sheet.typ == SheetType::WorkSheet;
        let all: Vec<&Sheet> = self.sheets.sheets_metadata().iter().filter(is_table).collect();
        let found = match name {
            Some(name) => all.iter().find(|sheet| sheet.name == name),
            None => all.iter().find(|sheet| sheet.visible == SheetVisible::Visible).or(all.first()),
        };
        if let Some(sheet) = found {
            return Ok(sheet.name.clone());
        }
        let path = self.input.name().to_owned();
        let Some(name) = name else {
            return Err(Error::Format { path, problem: "there is no sheet with cells in it".to_owned() });
        };
        let sheets: Vec<String> = all.iter().map(|sheet| sheet.name.clone()).collect();
        let near = alike(name, sheets.iter().cloned());
        let near =
            if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        Err(Error::Sheet {
            path,
            sheet: name.to_owned(),
            others: format!("it has {}{near}", sheets.join(", ")),
        })
    }

    /// Whether days are counted from 1904, as they once were on the Macintosh.
    pub(super) fn starts_in_1904(&self) -> bool {
        match &self.sheets {
            Sheets::Xlsx(workbook) => workbook.has_1904_epoch(),
            Sheets::Xlsb(workbook) => workbook.has_1904_epoch(),
            Sheets::Xls(workbook) => workbook.has_1904_epoch(),
            Sheets::Ods(_) => false,
        }
    }

    /// Gives all cells of a sheet, row by row; of the newer Excel formats without ever holding more than one.
    pub(super) fn each_cell(&mut self, sheet: &str, take: &mut Take<'_>) -> Result<(), Error> {
        let input = self.input;
        match &mut self.sheets {
            Sheets::Xlsx(workbook) => {
                let mut cells =
                    workbook.worksheet_cells_reader(sheet).map_err(|error| input.damaged(error))?;
                stream(input, || cells.next_cell(), take)
            }
            Sheets::Xlsb(workbook) => {
                let mut cells =
                    workbook.worksheet_cells_reader(sheet).map_err(|error| input.damaged(error))?;
                stream(input, || cells.next_cell(), take)
            }
            Sheets::Xls(workbook) => {
                whole(&workbook.worksheet_range(sheet).map_err(|error| input.damaged(error))?, take)
            }
            Sheets::Ods(workbook) => {
                whole(&workbook.worksheet_range(sheet).map_err(|error| input.damaged(error))?, take)
            }
        }
    }
}

fn stream<'c, E: Display>(
    input: &Input,
    mut next: impl FnMut() -> Result<Option<Cell<DataRef<'c>>>, E>,
    take: &mut Take<'_>,
) -> Result<(), Error> {
    while let Some(cell) = next().map_err(|error| input.damaged(error))? {
        let (row, column) = cell.get_position();
        take(row, column, cell.get_value())?;
    }
    Ok(())
}

fn whole(range: &Range<Data>, take: &mut Take<'_>) -> Result<(), Error> {
    let (first_row, first_column) = range.start().unwrap_or_default();
    for (row, column, value) in range.used_cells() {
        take(first_row + row as u32, first_column + column as u32, &shared(value))?;
    }
    Ok(())
}

fn shared(value: &Data) -> DataRef<'_> {
    match value {
        Data::Int(number) => DataRef::Int(*number),
        Data::Float(number) => DataRef::Float(*number),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => DataRef::SharedString(text),
        Data::Bool(flag) => DataRef::Bool(*flag),
        Data::DateTime(moment) => DataRef::DateTime(*moment),
        Data::Error(error) => DataRef::Error(error.clone()),
        Data::Empty => DataRef::Empty,
    }
}

fn locked(input: &Input) -> Error {
    let problem = "it is protected by a password; save it without one".to_owned();
    Error::Format { path: input.name().to_owned(), problem }
}
