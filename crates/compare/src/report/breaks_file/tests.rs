//! Break files in every format, read back.

use std::fs;
use std::io::Write;

use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};

use super::{BreaksFile, BreaksFormat, StoredBreaks};
use crate::report::shown::Shown;
use crate::report::{Break, BreakHeader, Cell, Outside};
use crate::rule::parse_rule;
use crate::spec::{Allow, Base, Rule, Tolerance};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

const MEASURES: [(&str, &str); 2] = [("amount", "0.01"), ("note", "exact")];

fn header(measures: &[(&str, &str)]) -> BreakHeader {
    BreakHeader {
        sources: names(&["ledger", "bank"]),
        key: names(&["id", "status"]),
        measures: measures
            .iter()
            .map(|&(name, rule)| {
                (name.to_owned(), Tolerance { rule: parse_rule(rule).unwrap(), allow: Allow::None })
            })
            .collect(),
    }
}

fn outside() -> Break {
    Break {
        key: vec![Some("T,1".to_owned()), None],
        occurrence: 1,
        present: vec![true, true],
        has_key: vec![true, true],
        cells: vec![
            Cell {
                values: vec![Some(Some("10.00".to_owned())), Some(Some("10.03".to_owned()))],
                outside: Some(Outside { pair: (0, 1), difference: Some("0.03".to_owned()) }),
            },
            Cell {
                values: vec![Some(Some(String::new())), Some(None)],
                outside: Some(Outside { pair: (0, 1), difference: None }),
            },
        ],
    }
}

fn unmatched() -> Break {
    Break {
        key: vec![Some("T\"2\n".to_owned()), Some(String::new())],
        occurrence: 2,
        present: vec![false, true],
        has_key: vec![false, true],
        cells: vec![
            Cell { values: vec![None, Some(Some("1".to_owned()))], outside: None },
            Cell { values: vec![None, Some(None)], outside: None },
        ],
    }
}

/// The break as it is shown, which tells it all.
fn shown(found: &Break) -> Shown {
    let mut shown = Shown::default();
    let write = |text: Option<&str>, out: &mut String| {
        out.push_str(text.unwrap_or_default());
        text.is_some()
    };
    shown.start(&found.present, &found.has_key, found.occurrence);
    found.key.iter().for_each(|part| shown.key_part(|out| write(part.as_deref(), out)));
    for (number, cell) in found.cells.iter().enumerate() {
        shown.measure(number, cell.outside.as_ref().map(|outside| outside.pair));
        let values = cell.values.iter().map(|value| value.as_ref().and_then(Option::as_deref));
        values.for_each(|value| shown.value(|out| write(value, out)));
        let difference = cell.outside.as_ref().and_then(|outside| outside.difference.as_deref());
        difference.iter().for_each(|difference| shown.difference(difference));
    }
    assert_eq!(shown.to_break(found.cells.len()), *found);
    shown
}

#[test]
fn rows_that_are_left_over_are_told_from_keys_that_are_absent() {
    let sources = names(&["a", "b", "c"]);
    let cases = [
        ([false, true, true], [false, true, true], "absent from a"),
        ([false, true, true], [true, true, true], "fewer rows of this key in a"),
        ([false, false, true], [true, true, true], "fewer rows of this key in a, b"),
        ([false, false, true], [false, true, true], "absent from a; fewer rows of this key in b"),
    ];
    for (present, has_key, expected) in cases {
        let found = Break { present: present.to_vec(), has_key: has_key.to_vec(), ..unmatched() };
        assert_eq!(found.absence(&sources), expected);
    }
    let left_over = Break { has_key: vec![true, true], ..unmatched() };
    let written =
        String::from_utf8(written("breaks.csv", &[("amount", "0.01"), ("note", "exact")], &[left_over]))
            .unwrap();
    assert!(written.contains(",fewer rows of this key in ledger\n"), "{written}");
}

fn written(file: &str, measures: &[(&str, &str)], breaks: &[Break]) -> Vec<u8> {
    written_by(file, &header(measures), breaks, 1, 1000)
}

fn written_by(file: &str, header: &BreakHeader, breaks: &[Break], threads: usize, batch: usize) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(file);
    let (mut file, renderer) = BreaksFile::create(&path, header, threads).unwrap();
    for batch in breaks.chunks(batch) {
        let mut rendered = renderer.start();
        batch.iter().for_each(|found| renderer.render(&shown(found), &mut rendered));
        file.append(rendered).unwrap();
    }
    assert!(!path.exists(), "the name is taken only at the end");
    file.finish().unwrap();
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    fs::read(&path).unwrap()
}

#[test]
fn csv_tells_null_from_the_empty_text() {
    let csv = written("b.csv", &MEASURES, &[outside(), unmatched()]);
    let expected = "id,status_key,occurrence,status,present_in,column,ledger,bank,difference,tolerance,rule\n\
        \"T,1\",,1,outside,\"ledger, bank\",amount,10.00,10.03,0.03,0.01,ABSOLUTE 0.01: ledger against bank\n\
        \"T,1\",,1,outside,\"ledger, bank\",note,\"\",,,,EXACT: ledger against bank\n\
        \"T\"\"2\n\",\"\",2,unmatched,bank,amount,,1,,0.01,absent from ledger\n\
        \"T\"\"2\n\",\"\",2,unmatched,bank,note,,,,,absent from ledger\n";
    assert_eq!(String::from_utf8(csv).unwrap(), expected);
}

#[test]
fn the_rule_is_whole() {
    let percentage = |base| Rule::Percentage { value: "0.5".parse().unwrap(), base };
    let cases = [
        (Rule::Exact, Allow::None, ",EXACT"),
        (Rule::Exact, Allow::Count(5), "\"exact,allow=5\",\"EXACT exact,allow=5"),
        (percentage(Base::Larger), Allow::None, "\"0.5%,base=larger\",\"PERCENTAGE 0.5%,base=larger"),
        (
            percentage(Base::Source(1)),
            Allow::Percent("0.1".parse().unwrap()),
            "\"0.5%,base=bank,allow=0.1%\",\"PERCENTAGE 0.5%,base=bank,allow=0.1%",
        ),
    ];
    for (rule, allow, expected) in cases {
        let mut header = header(&MEASURES);
        header.measures[0].1 = Tolerance { rule, allow };
        let csv = String::from_utf8(written_by("b.csv", &header, &[outside()], 1, 1)).unwrap();
        let line = csv.lines().nth(1).unwrap();
        assert!(line.contains(&format!(",0.03,{expected}: ledger against bank")), "{line}");
    }
}

#[test]
fn json_lines_have_null_and_escapes() {
    let json = written("b.jsonl", &MEASURES[..1], &[]);
    assert_eq!(json, b"");
    let mut without_measures = unmatched();
    without_measures.cells.clear();
    let json = written("b.jsonl", &[], &[without_measures]);
    let expected = "{\"id\":\"T\\\"2\\n\",\"status_key\":\"\",\"occurrence\":2,\"status\":\"unmatched\",\"present_in\":\"bank\",\
        \"column\":null,\"ledger\":null,\"bank\":null,\"difference\":null,\"tolerance\":null,\
        \"rule\":\"absent from ledger\"}\n";
    assert_eq!(String::from_utf8(json).unwrap(), expected);
}

#[test]
fn parquet_reads_back_and_is_the_same_whatever_the_batches() {
    let breaks: Vec<Break> = [outside(), unmatched()].into_iter().cycle().take(40_001).collect();
    let bytes = written("b.parquet", &MEASURES, &breaks);
    for (threads, batch) in [(2, 1000), (1, 7), (3, 40_001), (20, 16_384)] {
        let again = written_by("b.parquet", &header(&MEASURES), &breaks, threads, batch);
        assert!(bytes == again, "{threads} threads, batches of {batch}");
    }

    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    assert_eq!(reader.metadata().num_row_groups(), 2);
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows, 80_002);
    let note: Vec<Option<String>> = (batches[0].columns().iter())
        .map(|column| {
            if let Some(numbers) = column.as_primitive_opt::<Int64Type>() {
                return Some(format!("number {}", numbers.value(1)));
            }
            let column = column.as_string::<i32>();
            column.is_valid(1).then(|| column.value(1).to_owned())
        })
        .collect();
    let some = |text: &str| Some(text.to_owned());
    let rule = some("EXACT: ledger against bank");
    assert_eq!(
        note,
        [
            some("T,1"),
            None,
            some("number 1"),
            some("outside"),
            some("ledger, bank"),
            some("note"),
            some(""),
            None,
            None,
            None,
            rule
        ]
    );
}

#[test]
fn what_is_read_back_is_what_was_written() {
    let breaks: Vec<Break> = [outside(), unmatched()].into_iter().cycle().take(3001).collect();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("b.parquet");
    fs::write(&path, written("b.parquet", &MEASURES, &breaks)).unwrap();
    let stored = || StoredBreaks::open(&path).unwrap();
    let (mut csv, mut json) = (Vec::new(), Vec::new());
    stored().write_csv(usize::MAX, &mut csv).unwrap();
    stored().write_json_lines(usize::MAX, &mut json).unwrap();
    assert!(csv == written("b.csv", &MEASURES, &breaks) && json == written("b.jsonl", &MEASURES, &breaks));
    assert_eq!(stored().first(1500).unwrap().len(), 1500);
    fs::write(&path, "PAR1").unwrap();
    for path in [&path, &directory.path().join("none.parquet")] {
        let error = StoredBreaks::open(path).err().unwrap().to_string();
        assert!(error.starts_with(&format!("cannot read the breaks in {}: ", path.display())), "{error}");
    }
}

#[test]
fn a_file_that_is_not_finished_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("b.csv");
    BreaksFile::check(&path).unwrap();
    let (mut file, renderer) = BreaksFile::create(&path, &header(&MEASURES), 1).unwrap();
    let mut rendered = renderer.start();
    renderer.render(&shown(&outside()), &mut rendered);
    file.append(rendered).unwrap();
    drop(file);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn the_extension_decides() {
    let cases = [
        ("a.parquet", Some(BreaksFormat::Parquet)),
        ("a.CSV", Some(BreaksFormat::Csv)),
        ("a.b.jsonl", Some(BreaksFormat::JsonLines)),
        ("a.xlsx", None),
        ("parquet", None),
    ];
    for (path, expected) in cases {
        let found = BreaksFormat::of(path.as_ref());
        assert_eq!(found.as_ref().ok(), expected.as_ref(), "{path}");
        assert_eq!(found.is_err_and(|error| error.hint().is_some()), expected.is_none());
    }
}

#[test]
fn what_cannot_be_written_is_known_before() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("taken.csv")).unwrap();
    for (path, hint) in [("missing/b.csv", "make the directory first"), ("taken.csv", "name a file in it")] {
        let refused = BreaksFile::check(&directory.path().join(path)).unwrap_err();
        assert_eq!(refused.hint().as_deref(), Some(hint), "{refused}");
    }
    assert!(BreaksFile::check(&directory.path().join("b.txt")).is_err());
}
