//! Workbooks as Excel wrote them before `.xlsx`, and as it writes them in binary.

use crate::excel::archive;
use crate::reading::{Rows, detected, names, rows, table};

/// A hidden sheet, and `Statement`; written by `xlwt` of Python.
const OLD: &[u8] = include_bytes!("old.xls");

/// A record of MS-XLSB: its type and the length of its body in 7 bits each, then the body.
fn record(kind: u32, body: &[u8]) -> Vec<u8> {
    let short = |number: u32| match number {
        0..0x80 => vec![number as u8],
        _ => vec![(number & 0x7f) as u8 | 0x80, (number >> 7) as u8],
    };
    [short(kind), short(body.len() as u32), body.to_vec()].concat()
}

fn wide(text: &str) -> Vec<u8> {
    let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    [&(units.len() as u32 / 2).to_le_bytes(), units.as_slice()].concat()
}

fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// What is in a cell of a binary workbook.
enum Cell {
    Shared(u32),
    Text(&'static str),
    Real(f64),
    Date(f64),
    /// A number in 30 bits, and whether it counts hundredths.
    Short(i32, bool),
    Flag(bool),
    Failed,
}

impl Cell {
    fn record(&self, column: u32) -> Vec<u8> {
        let style = u32::from(matches!(self, Self::Date(_)));
        let (kind, value) = match self {
            Self::Shared(at) => (7, words(&[*at])),
            Self::Text(text) => (6, wide(text)),
            Self::Real(number) | Self::Date(number) => (5, number.to_le_bytes().to_vec()),
            Self::Short(number, is_cents) => {
                (2, (number << 2 | 2 | i32::from(*is_cents)).to_le_bytes().to_vec())
            }
            Self::Flag(flag) => (4, vec![u8::from(*flag)]),
            Self::Failed => (3, vec![0x07]),
        };
        record(kind, &[words(&[column, style]), value].concat())
    }
}

/// A binary workbook with the shared texts `id` to `memo`, and one sheet, `Statement`.
fn binary(lines: &[&[Option<Cell>]]) -> Vec<u8> {
    let texts = ["id", "day", "amount", "flag", "memo"];
    let shared = texts.map(|text| record(0x13, &[vec![0], wide(text)].concat())).concat();
    let shared = [record(0x9f, &words(&[5, 5])), shared, record(0xa0, &[])].concat();
    // Two formats of cells: none, and the short date.
    let format = |number: u16| record(0x2f, &[[0; 2], number.to_le_bytes()].concat());
    let styles = [record(0x269, &words(&[2])), format(0), format(14), record(0x26a, &[])].concat();
    let sheet = [words(&[0, 1]), wide("r1"), wide("Statement")].concat();
    let book = [record(0x8f, &[]), record(0x9c, &sheet), record(0x90, &[]), record(0x84, &[])].concat();
    let mut cells = [record(0x94, &words(&[0, lines.len() as u32, 0, 4])), record(0x91, &[])].concat();
    for (row, line) in (0..).zip(lines) {
        cells.extend(record(0, &words(&[row, 0, 0, 0])));
        for (column, cell) in (0..).zip(*line) {
            cells.extend(cell.iter().flat_map(|cell| cell.record(column)));
        }
    }
    cells.extend(record(0x92, &[]));
    let relations =
        b"<Relationships><Relationship Id=\"r1\" Target=\"worksheets/sheet1.bin\"/></Relationships>".to_vec();
    archive(&[
        ("xl/_rels/workbook.bin.rels", relations),
        ("xl/workbook.bin", book),
        ("xl/sharedStrings.bin", shared),
        ("xl/styles.bin", styles),
        ("xl/worksheets/sheet1.bin", cells),
    ])
}

fn head() -> [Option<Cell>; 5] {
    [0, 1, 2, 3, 4].map(|at| Some(Cell::Shared(at)))
}

fn expected() -> Rows {
    let row =
        |cells: [&str; 5]| cells.map(|cell| Some(cell.to_owned()).filter(|cell| !cell.is_empty())).to_vec();
    vec![
        row(["1", "2026-01-31", "1234.56", "true", "Größe 🦀"]),
        row(["2", "2026-01-31T10:30:00", "-0.1", "false", ""]),
    ]
}

#[test]
fn all_kinds_are_read_alike() {
    let binary = binary(&[
        &head(),
        &[
            Some(Cell::Short(1, false)),
            Some(Cell::Date(46_053.0)),
            Some(Cell::Short(123_456, true)),
            Some(Cell::Flag(true)),
            Some(Cell::Text("Größe 🦀")),
        ],
        &[
            Some(Cell::Real(2.0)),
            Some(Cell::Date(46_053.437_5)),
            Some(Cell::Real(-0.1)),
            Some(Cell::Flag(false)),
            None,
        ],
    ]);
    for (name, bytes) in [("bank.xls", OLD), ("bank.xlsb", &binary), ("bank", OLD), ("bank", &binary)] {
        let table = table(name, bytes, &detected()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(table.described(), "Excel, sheet Statement, header", "{name}");
        assert_eq!(names(&table), ["id", "day", "amount", "flag", "memo"], "{name}");
        assert_eq!(rows(&table).unwrap(), expected(), "{name}");
        assert!(table.place(0, 1).unwrap().ends_with(", Statement, row 3"), "{name}");
    }
}

#[test]
fn what_is_refused_is_named_here_too() {
    let failed = binary(&[&head(), &[Some(Cell::Short(1, false)), Some(Cell::Failed)]]);
    let no_date = binary(&[&head(), &[Some(Cell::Short(1, false)), Some(Cell::Date(-3.5))]]);
    let refusals = [&failed[..], &no_date, &failed[..failed.len() / 2], &OLD[..OLD.len() / 2]].map(|bytes| {
        let error = table("bank.xls", bytes, &detected()).map(|_| ()).unwrap_err().to_string();
        error[error.find("bank.xls").unwrap()..].to_owned()
    });
    insta::assert_snapshot!(refusals.join("\n"), @r"
    bank.xls, Statement!B2: the error #DIV/0!; mend the formula, or clear the cell
    bank.xls, Statement!B2: -3.5 is shown as a date, and is none
    bank.xls: damaged or not supported: Zip error: invalid Zip archive: Could not find EOCD; check that the file was written to its end
    bank.xls: damaged or not supported: Cfb error: Sector 8 points past end of file; check that the file was written to its end
    ");
}
