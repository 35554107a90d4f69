//! Whatever the bytes are, a file is read or refused; nothing panics, hangs, or changes from scan to scan.

use std::io::Write;
use std::sync::Arc;

use crate::reading::detected;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;
use trueup_extract::{Error, Format, Options, open_reader};

/// Small pseudo-random numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % sides
    }
}

/// Reads everything there is, and says how many rows that were.
fn read(bytes: &[u8], format: Option<Format>, chunk_bytes: usize) -> Result<usize, Error> {
    let table = open_reader("garbage", bytes, &Options { format, chunk_bytes, ..detected() })?;
    let columns: Vec<usize> = (0..table.schema().fields().len()).collect();
    let scan = table.scan(&columns, None)?;
    let mut rows = 0;
    while let Some(part) = scan.next_part()? {
        for batch in part.batches {
            rows += batch?.num_rows();
        }
    }
    Ok(rows)
}

fn named(result: &Result<usize, Error>) {
    if let Err(error) = result {
        assert!(error.to_string().starts_with("garbage"), "{error}");
    }
}

/// A healthy file of every format.
fn healthy() -> Vec<(Option<Format>, Vec<u8>)> {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..300));
    let names: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..300).map(|row| format!("the name of {row}"))));
    let batch = RecordBatch::try_from_iter([("id", ids), ("name", names)]).unwrap();
    let mut parquet = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    parquet.write(&batch).unwrap();
    let mut file = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    file.write(&batch).unwrap();
    let mut stream = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    stream.write(&batch).unwrap();
    let mut csv = "id,name\n".to_owned();
    let mut json = String::new();
    for row in 0..100 {
        csv.push_str(&format!("{row},\"the \"\"name\"\"\nof {row}\"\n"));
        json.push_str(&format!("{{\"id\":{row},\"name\":\"the \\u006eame\",\"more\":[{{\"x\": {row}}}]}}\n"));
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(csv.as_bytes()).unwrap();
    vec![
        (None, gzip.finish().unwrap()),
        (None, zstd::encode_all(csv.as_bytes(), 1).unwrap()),
        (Some(Format::Csv), csv.into_bytes()),
        (Some(Format::JsonLines), json.into_bytes()),
        (Some(Format::Parquet), parquet.into_inner().unwrap()),
        (Some(Format::Arrow), file.into_inner().unwrap()),
        (Some(Format::Arrow), stream.into_inner().unwrap()),
    ]
}

#[test]
fn random_bytes() {
    let mut dice = Dice(0x5eed);
    let formats = [Format::Csv, Format::Tsv, Format::JsonLines, Format::Parquet, Format::Arrow];
    let marks = b"\"',;\n\r\t|{}[]:\\ 1a\xff\xc3\xa9\0";
    for _ in 0..150 {
        let length = dice.roll(300);
        let wild: Vec<u8> = (0..length).map(|_| dice.roll(256) as u8).collect();
        let likely: Vec<u8> = (0..length).map(|_| marks[dice.roll(marks.len())]).collect();
        for bytes in [wild, likely] {
            for format in formats.map(Some).into_iter().chain([None]) {
                let whole = read(&bytes, format, 1 << 20);
                named(&whole);
                let pieces = read(&bytes, format, 16);
                assert_eq!(whole.is_ok(), pieces.is_ok(), "{format:?} {bytes:?}");
                if let (Ok(whole), Ok(pieces)) = (whole, pieces) {
                    assert_eq!(whole, pieces, "{format:?} {bytes:?}");
                }
            }
        }
    }
}

#[test]
fn truncated_files() {
    for (format, bytes) in healthy() {
        let all = read(&bytes, format, 100).unwrap();
        let step = (bytes.len() / 150).max(1);
        for length in (0..bytes.len()).step_by(step) {
            let result = read(&bytes[..length], format, 100);
            named(&result);
            if let Ok(rows) = result {
                assert!(rows <= all, "{format:?} cut to {length}");
            }
        }
    }
}

#[test]
fn flipped_bytes() {
    let mut dice = Dice(0xf11b);
    for (format, bytes) in healthy() {
        for _ in 0..100 {
            let mut damaged = bytes.clone();
            for _ in 0..=dice.roll(4) {
                let at = dice.roll(damaged.len());
                damaged[at] ^= 1 << dice.roll(8);
            }
            named(&read(&damaged, format, 100));
        }
    }
}
