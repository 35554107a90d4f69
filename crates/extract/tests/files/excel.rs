//! Workbooks: what cells are read as, which sheet and rows are meant, and what is refused.

use std::io::Write as _;

use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook, Worksheet};
use trueup_extract::{Empty, Options, Table};
use zip::write::SimpleFileOptions;

use crate::reading::{Kept, Rows, detected, names, rows, some, table};

/// A workbook with one sheet, `Statement`.
fn workbook(fill: impl FnOnce(&mut Worksheet)) -> Vec<u8> {
    let mut workbook = Workbook::new();
    fill(workbook.add_worksheet().set_name("Statement").unwrap());
    workbook.save_to_buffer().unwrap()
}

fn read(bytes: &[u8], options: &Options) -> Kept {
    table("bank.xlsx", bytes, options).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(bytes: &[u8], options: &Options) -> String {
    let error = table("bank.xlsx", bytes, options).map(|_| ()).unwrap_err().to_string();
    error[error.find("bank.xlsx").unwrap()..].to_owned()
}

fn texts(table: &Table) -> Rows {
    rows(table).unwrap()
}

#[test]
fn cells_are_what_they_are_shown_as() {
    let shown = |format: &str| Format::new().set_num_format(format);
    let bytes = workbook(|sheet| {
        let moment = ExcelDateTime::parse_from_str("2026-01-31T10:30:15.250").unwrap();
        sheet.write(0, 0, "kind").unwrap().write(0, 1, "value").unwrap();
        let mut put = |row: u32, kind: &str, write: &dyn Fn(&mut Worksheet, u32)| {
            sheet.write(row, 0, kind).unwrap();
            write(sheet, row);
        };
        put(1, "whole", &|sheet, row| {
            sheet.write(row, 1, 42).unwrap();
        });
        put(2, "sum", &|sheet, row| {
            sheet.write(row, 1, 0.1 + 0.2).unwrap();
        });
        put(3, "amount", &|sheet, row| {
            sheet.write_with_format(row, 1, 1234.5, &shown("#,##0.00 \"EUR\"")).unwrap();
        });
        put(4, "text", &|sheet, row| {
            sheet.write(row, 1, " 007 ü\n").unwrap();
        });
        put(5, "flag", &|sheet, row| {
            sheet.write(row, 1, true).unwrap();
        });
        put(6, "date", &|sheet, row| {
            sheet.write_with_format(row, 1, 46_053, &shown("dd/mm/yyyy")).unwrap();
        });
        put(7, "moment", &|sheet, row| {
            sheet.write_with_format(row, 1, &moment, &shown("yyyy-mm-dd hh:mm:ss.000")).unwrap();
        });
        put(8, "time", &|sheet, row| {
            sheet.write_with_format(row, 1, 0.4375, &shown("hh:mm")).unwrap();
        });
        put(9, "duration", &|sheet, row| {
            sheet.write_with_format(row, 1, 1.5625, &shown("[h]:mm:ss")).unwrap();
        });
        put(10, "formula", &|sheet, row| {
            sheet.write_formula(row, 1, Formula::new("=B2*2").set_result("84")).unwrap();
        });
        put(11, "nothing", &|_, _| ());
        put(12, "before the calendar's own day", &|sheet, row| {
            sheet.write_with_format(row, 1, 59, &shown("yyyy-mm-dd")).unwrap();
        });
    });
    let values: Vec<Option<String>> =
        texts(&read(&bytes, &detected())).into_iter().map(|row| row[1].clone()).collect();
    let expected = [
        Some("42"),
        Some("0.30000000000000004"),
        Some("1234.5"),
        Some(" 007 ü\n"),
        Some("true"),
        Some("2026-01-31"),
        Some("2026-01-31T10:30:15.250"),
        Some("10:30:00"),
        Some("PT37H30M"),
        Some("84"),
        None,
        Some("1900-02-28"),
    ]
    .map(|value| value.map(str::to_owned));
    assert_eq!(values, expected);
}

/// A workbook as Excel writes it, but for what nobody reads.
fn written(properties: &str, rows: &str) -> Vec<u8> {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let documents = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relation = |id: u32, kind: &str, to: &str| {
        format!("<Relationship Id=\"r{id}\" Type=\"{documents}/{kind}\" Target=\"{to}\"/>")
    };
    let relations = |all: &[String]| {
        let package = "http://schemas.openxmlformats.org/package/2006/relationships";
        format!("<Relationships xmlns=\"{package}\">{}</Relationships>", all.concat())
    };
    archive(&[
        ("_rels/.rels", &relations(&[relation(1, "officeDocument", "xl/workbook.xml")])),
        (
            "xl/_rels/workbook.xml.rels",
            &relations(&[
                relation(1, "worksheet", "worksheets/sheet1.xml"),
                relation(2, "styles", "styles.xml"),
            ]),
        ),
        (
            "xl/workbook.xml",
            &format!(
                "<workbook xmlns=\"{main}\" xmlns:r=\"{documents}\">{properties}<sheets><sheet name=\"One\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/styles.xml",
            &format!(
                "<styleSheet xmlns=\"{main}\"><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"
            ),
        ),
        (
            "xl/worksheets/sheet1.xml",
            &format!("<worksheet xmlns=\"{main}\"><sheetData>{rows}</sheetData></worksheet>"),
        ),
    ])
}

pub(crate) fn archive<T: AsRef<[u8]>>(files: &[(&str, T)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content.as_ref()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn an_empty_text_is_not_nothing() {
    let head = "<row r=\"1\"><c r=\"A1\" t=\"str\"><v>id</v></c><c r=\"B1\" t=\"str\"><v>note</v></c></row>";
    let text = "<row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"B2\" t=\"str\"><f>\"\"</f><v></v></c></row>";
    let nothing = "<row r=\"3\"><c r=\"A3\"><v>2</v></c></row>";
    let only_texts = "<row r=\"4\"><c r=\"A4\" t=\"str\"><f>\"\"</f><v></v></c></row>";
    let bytes = written("", &[head, text, nothing, only_texts].concat());
    let empty = || Some(String::new());
    for (meaning, expected) in
        [(Empty::Quoted, [empty(), None]), (Empty::Null, [None, None]), (Empty::Text, [empty(), empty()])]
    {
        let found = texts(&read(&bytes, &Options { empty: meaning, ..detected() }));
        assert_eq!(found.iter().map(|row| row[1].clone()).collect::<Vec<_>>(), expected, "{meaning:?}");
    }
}

#[test]
fn days_may_be_counted_from_1904() {
    let rows = "<row r=\"1\"><c r=\"A1\" t=\"str\"><v>day</v></c></row><row r=\"2\"><c r=\"A2\" s=\"1\"><v>44591</v></c></row>";
    for (properties, expected) in [("", "2022-01-30"), ("<workbookPr date1904=\"1\"/>", "2026-01-31")] {
        assert_eq!(texts(&read(&written(properties, rows), &detected())), some(&[&[expected]]));
    }
}

#[test]
fn a_table_is_where_its_first_row_is() {
    let bytes = workbook(|sheet| {
        sheet.write(2, 1, "id").unwrap().write(2, 2, "name").unwrap();
        sheet.write(3, 1, 1).unwrap().write(3, 2, "x").unwrap();
        sheet.write(6, 1, 2).unwrap().write_blank(6, 2, &Format::new().set_bold()).unwrap();
        sheet.merge_range(7, 1, 8, 1, "3", &Format::new()).unwrap();
        sheet.write(7, 2, "y").unwrap().write(8, 2, "z").unwrap();
        sheet.write_blank(30, 40, &Format::new().set_bold()).unwrap();
    });
    let table = read(&bytes, &detected());
    assert_eq!(names(&table), ["id", "name"]);
    let found = texts(&table);
    assert_eq!(
        found[..2],
        some(&[&["1", "x"]]).into_iter().chain([vec![Some("2".to_owned()), None]]).collect::<Vec<_>>()
    );
    assert_eq!(
        found[2..],
        [vec![Some("3".to_owned()), Some("y".to_owned())], vec![None, Some("z".to_owned())]]
    );
    assert_eq!(table.described(), "Excel, sheet Statement, header");
    let places: Vec<String> =
        (0..4).map(|row| table.place(0, row).unwrap().rsplit('/').next().unwrap().to_owned()).collect();
    let rows = [4, 7, 8, 9].map(|row| format!("bank.xlsx, Statement, row {row}"));
    assert_eq!(places, rows);
}

#[test]
fn headers_are_told_as_in_text() {
    let bytes = workbook(|sheet| {
        sheet.write(0, 0, 1).unwrap().write(0, 1, "a").unwrap();
        sheet.write(1, 0, 2).unwrap().write(1, 1, "b").unwrap();
    });
    assert_eq!(names(&read(&bytes, &detected())), ["column_0", "column_1"]);
    assert_eq!(texts(&read(&bytes, &detected())), some(&[&["1", "a"], &["2", "b"]]));
    let named = read(&bytes, &Options { header: Some(true), ..detected() });
    assert_eq!((names(&named), texts(&named)), (vec!["1".to_owned(), "a".to_owned()], some(&[&["2", "b"]])));
}

#[test]
fn a_sheet_is_chosen() {
    let mut workbook = Workbook::new();
    for (name, is_hidden) in [("Secret", true), ("May", false), ("June", false)] {
        let sheet = workbook.add_worksheet().set_name(name).unwrap();
        sheet.write(0, 0, "month").unwrap().write(1, 0, name).unwrap();
        if is_hidden {
            sheet.set_hidden(true);
        } else {
            sheet.set_active(name == "May");
        }
    }
    let bytes = workbook.save_to_buffer().unwrap();
    for (sheet, expected) in [(None, "May"), (Some("June"), "June"), (Some("Secret"), "Secret")] {
        let options = Options { sheet: sheet.map(str::to_owned), ..detected() };
        assert_eq!(texts(&read(&bytes, &options)), some(&[&[expected]]));
    }
    let unknown = Options { sheet: Some("Jun".to_owned()), ..detected() };
    assert_eq!(
        refusal(&bytes, &unknown),
        "bank.xlsx: there is no sheet \"Jun\"; it has Secret, May, June; did you mean June?"
    );
    let error = table("a.csv", b"id\n1\n", &unknown).map(|_| ()).unwrap_err().to_string();
    assert!(error.ends_with("a.csv: it has no sheets, for it is CSV; leave out the sheet"), "{error}");
}

#[test]
fn what_is_refused_is_named_by_its_cell() {
    let date = Format::new().set_num_format("yyyy-mm-dd");
    let head = |sheet: &mut Worksheet| {
        sheet.write(0, 0, "id").unwrap().write(0, 1, "day").unwrap();
    };
    let cases = [
        workbook(|sheet| {
            head(sheet);
            sheet.write_formula(16, 1, Formula::new("=1/0").set_result("#DIV/0!")).unwrap();
        }),
        workbook(|sheet| {
            head(sheet);
            sheet.write_with_format(1, 1, 60, &date).unwrap();
        }),
        workbook(|sheet| {
            head(sheet);
            sheet.write_with_format(1, 1, -3.5, &date).unwrap();
        }),
        workbook(|sheet| {
            head(sheet);
            sheet.write(5, 3, "a note").unwrap();
        }),
        workbook(|sheet| {
            head(sheet);
            sheet.write(0, 3, "name").unwrap();
        }),
        workbook(|sheet| {
            head(sheet);
            sheet.write(0, 2, "id").unwrap();
        }),
        workbook(|_| ()),
        workbook(head)[..900].to_vec(),
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and no more".to_vec(),
        b"PK\x03\x04 and no more".to_vec(),
    ];
    let refusals: Vec<String> = cases.iter().map(|bytes| refusal(bytes, &detected())).collect();
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    bank.xlsx, Statement!B17: the error #DIV/0!; mend the formula, or clear the cell
    bank.xlsx, Statement!B2: 60 is shown as a date, and is none
    bank.xlsx, Statement!B2: -3.5 is shown as a date, and is none
    bank.xlsx, Statement!D6: a value outside the columns of the first row; clear the cell, or name its column
    bank.xlsx, Statement!C1: the name of column 3 is empty; name it, or say that there is no header
    bank.xlsx, Statement!C1: two columns are called "id"; rename one, or say that there is no header
    bank.xlsx: the sheet Statement is empty; not even a header is there
    bank.xlsx: damaged or not supported: Zip error: invalid Zip archive: Could not find EOCD; check that the file was written to its end
    bank.xlsx: damaged or not supported: Cfb error: Invalid OLE (20 bytes is too small); check that the file was written to its end
    bank.xlsx: damaged or not supported: Zip error: invalid Zip archive: Could not find EOCD; check that the file was written to its end
    "#);
}

#[test]
fn the_first_rows_decide_nothing_of_the_others() {
    let bytes = workbook(|sheet| {
        sheet.write(0, 0, "n").unwrap();
        for row in 1..=40_000 {
            sheet.write(row, 0, row).unwrap();
        }
        sheet.write(40_001, 0, "the last").unwrap();
    });
    let table = read(&bytes, &detected());
    assert_eq!(table.rows_hint(), Some(40_001));
    let found = texts(&table);
    let numbers = (1..=40_000).map(|number| number.to_string()).chain(["the last".to_owned()]);
    assert!(found.iter().map(|row| row[0].clone()).eq(numbers.map(Some)));
    assert!(table.place(2, 0).unwrap().ends_with("bank.xlsx, Statement, row 32770"));
}

#[test]
fn sheets_of_open_document() {
    let cell = |kind: &str, value: &str, text: &str| {
        format!(
            "<table:table-cell office:value-type=\"{kind}\" {value}><text:p>{text}</text:p></table:table-cell>"
        )
    };
    let row = |cells: &[String]| format!("<table:table-row>{}</table:table-row>", cells.concat());
    let content = [
        row(&[cell("string", "", "id"), cell("string", "", "day")]),
        row(&[
            cell("float", "office:value=\"1.5\"", "1,50"),
            cell("date", "office:date-value=\"2026-01-31\"", "31.01.26"),
        ]),
    ];
    let content = format!(
        "<?xml version=\"1.0\"?><office:document-content xmlns:office=\"o\" xmlns:table=\"t\" xmlns:text=\"x\"><office:body><office:spreadsheet><table:table table:name=\"One\">{}</table:table></office:spreadsheet></office:body></office:document-content>",
        content.concat()
    );
    let bytes = archive(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", "<manifest:manifest xmlns:manifest=\"m\"></manifest:manifest>"),
        ("content.xml", &content),
    ]);
    let table = table("a.ods", &bytes, &detected()).unwrap();
    assert_eq!(names(&table), ["id", "day"]);
    assert_eq!(texts(&table), some(&[&["1.5", "2026-01-31"]]));
}
