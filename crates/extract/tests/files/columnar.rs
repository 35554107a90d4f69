//! Parquet and Arrow IPC: types, parts, selections, compressions, and what is refused.

use std::sync::Arc;

use crate::reading::{detected, names, table, write};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Decimal128Array, DictionaryArray, Float64Array, Int32Array,
    Int64Array, LargeStringArray, RecordBatch, StringArray, TimestampMillisecondArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, TimeUnit};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{Int96, Int96Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use trueup_extract::{Selection, Table, open};

fn batch(rows: i64) -> RecordBatch {
    let ids: Int64Array = (0..rows).map(|row| (row % 11 != 3).then_some(row)).collect();
    let names = StringArray::from_iter_values((0..rows).map(|row| format!("customer number {row}")));
    let notes: LargeStringArray = (0..rows).map(|row| (row % 5 != 0).then(|| format!("n{row}"))).collect();
    let codes: DictionaryArray<Int32Type> =
        (0..rows).map(|row| ["USD", "EUR", "GBP"][row as usize % 3]).collect();
    let blobs = BinaryArray::from_iter_values((0..rows).map(i64::to_be_bytes));
    let amounts =
        Decimal128Array::from_iter_values((0..rows).map(i128::from)).with_precision_and_scale(18, 2).unwrap();
    let moments = TimestampMillisecondArray::from_iter_values(0..rows).with_timezone("Europe/Paris");
    let doubles = Float64Array::from_iter_values((0..rows).map(|row| row as f64 / 8.0));
    let columns: [(&str, ArrayRef); 8] = [
        ("id", Arc::new(ids)),
        ("name", Arc::new(names)),
        ("note", Arc::new(notes)),
        ("code", Arc::new(codes)),
        ("blob", Arc::new(blobs)),
        ("amount", Arc::new(amounts)),
        ("moment", Arc::new(moments)),
        ("double", Arc::new(doubles)),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap()
}

fn parquet_bytes(batch: &RecordBatch, compression: Compression, group: usize) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(group))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn ipc_bytes(
    batch: &RecordBatch,
    stream: bool,
    compression: Option<CompressionType>,
    size: usize,
) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let slices =
        (0..batch.num_rows()).step_by(size).map(|at| batch.slice(at, size.min(batch.num_rows() - at)));
    if stream {
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
        slices.for_each(|slice| writer.write(&slice).unwrap());
        return writer.into_inner().unwrap();
    }
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    slices.for_each(|slice| writer.write(&slice).unwrap());
    writer.into_inner().unwrap()
}

fn scanned(table: &Table, columns: &[usize], only: Option<&Selection>) -> Vec<(usize, RecordBatch)> {
    let scan = table.scan(columns, only).unwrap();
    let mut parts = Vec::new();
    while let Some(part) = scan.next_part().unwrap() {
        let batches: Vec<RecordBatch> = part.batches.map(Result::unwrap).collect();
        if let Some(first) = batches.first() {
            parts.push((part.number, concat_batches(&first.schema(), &batches).unwrap()));
        }
    }
    parts
}

/// Every file must say the same, part by part, with and without a selection.
fn assert_reads(case: &str, name: &str, bytes: &[u8], parts: usize) {
    let table = table(name, bytes, &detected()).unwrap();
    assert_eq!(names(&table), ["id", "name", "note", "code", "blob", "amount", "moment", "double"]);
    assert_eq!(table.rows_hint(), Some(1000), "{case}");
    for columns in [vec![0, 1, 2, 3, 4, 5, 6, 7], vec![6, 1, 3], vec![2, 2], vec![]] {
        let all = scanned(&table, &columns, None);
        assert_eq!(all.len(), parts, "{case}");
        assert_eq!(all.iter().map(|(_, batch)| batch.num_rows()).sum::<usize>(), 1000, "{case}");
        assert_eq!(all, scanned(&table, &columns, None), "{case}");
        let mut selection = Selection::new();
        let mut expected = Vec::new();
        for (number, batch) in all.into_iter().filter(|(number, _)| number % 3 != 1) {
            let bits: BooleanArray = (0..batch.num_rows()).map(|row| Some(row % 7 == 2 || row < 3)).collect();
            expected.push((number, filter_record_batch(&batch, &bits).unwrap()));
            selection.insert(number, bits.values().clone());
        }
        assert_eq!(scanned(&table, &columns, Some(&selection)), expected, "{case}");
    }
    let all = scanned(&table, &[0, 1], None);
    let whole = concat_batches(&all[0].1.schema(), all.iter().map(|(_, batch)| batch)).unwrap();
    assert_eq!(whole.column(0).as_primitive::<Int64Type>().value(999), 999);
    assert!(whole.column(0).is_null(3));
}

#[test]
fn parquet_reads_the_same_under_every_compression() {
    let data = batch(1000);
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
    ] {
        for (group, parts) in [(1 << 20, 1), (300, 4)] {
            assert_reads(
                &format!("{compression}"),
                "t.parquet",
                &parquet_bytes(&data, compression, group),
                parts,
            );
        }
    }
}

#[test]
fn arrow_reads_the_same_as_file_and_stream() {
    let data = batch(1000);
    for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        for (size, parts) in [(1000, 1), (300, 4)] {
            assert_reads("file", "t.arrow", &ipc_bytes(&data, false, compression, size), parts);
            assert_reads("stream", "t.arrows", &ipc_bytes(&data, true, compression, size), parts);
            assert_reads(
                "stream by its first bytes",
                "t.unknown",
                &ipc_bytes(&data, true, compression, size),
                parts,
            );
        }
    }
}

#[test]
fn arrow_streams_may_replace_dictionaries() {
    let words = |words: &[&str]| {
        let codes: DictionaryArray<Int32Type> = words.iter().copied().collect();
        RecordBatch::try_from_iter([("code", Arc::new(codes) as ArrayRef)]).unwrap()
    };
    let batches = [words(&["a", "b"]), words(&["x", "y", "x"]), words(&["b", "a"])];
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    for batch in &batches {
        writer.write(batch).unwrap();
    }
    let table = table("t.arrow", &writer.into_inner().unwrap(), &detected()).unwrap();
    let selection = Selection::from([
        (1, [true, false, true].into_iter().collect()),
        (2, [true, true].into_iter().collect()),
    ]);
    let read = |only: Option<&Selection>| -> Vec<Vec<String>> {
        let texts = |batch: &RecordBatch| {
            let codes = batch.column(0).as_dictionary::<Int32Type>().downcast_dict::<StringArray>().unwrap();
            codes.into_iter().map(|code| code.unwrap().to_owned()).collect()
        };
        scanned(&table, &[0], only).iter().map(|(_, batch)| texts(batch)).collect()
    };
    assert_eq!(read(None), [vec!["a", "b"], vec!["x", "y", "x"], vec!["b", "a"]]);
    assert_eq!(read(Some(&selection)), [["x", "x"], ["b", "a"]]);
}

#[test]
fn parquet_text_comes_as_views_and_the_rest_as_written() {
    let table =
        table("t.parquet", &parquet_bytes(&batch(10), Compression::SNAPPY, 1000), &detected()).unwrap();
    let types: Vec<DataType> =
        table.schema().fields().iter().map(|field| field.data_type().clone()).collect();
    let paris = DataType::Timestamp(TimeUnit::Millisecond, Some("Europe/Paris".into()));
    let text = DataType::Utf8View;
    let expected = [
        DataType::Int64,
        text.clone(),
        text.clone(),
        text,
        DataType::BinaryView,
        DataType::Decimal128(18, 2),
        paris,
        DataType::Float64,
    ];
    assert_eq!(types, expected);
    assert_eq!(table.described(), "Parquet");
}

#[test]
fn parquet_int96_reaches_beyond_2262() {
    let schema = Arc::new(parse_message_type("message t { required int96 at; }").unwrap());
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(WriterProperties::default())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    // Julian day 5373484 is 9999-12-31; 2440588 is 1970-01-01.
    let moment =
        |day: u32, nanos: u64| Int96::from(vec![(nanos & 0xffff_ffff) as u32, (nanos >> 32) as u32, day]);
    let values = [moment(5_373_484, 0), moment(2_440_588, 1_500_000)];
    column.typed::<Int96Type>().write_batch(&values, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    let bytes = writer.into_inner().unwrap();
    let table = table("t.parquet", &bytes, &detected()).unwrap();
    let parts = scanned(&table, &[0], None);
    let read = parts[0].1.column(0).as_primitive::<TimestampMicrosecondType>();
    assert_eq!(read.values().to_vec(), [253_402_214_400_000_000, 1500]);
}

#[test]
fn rows_that_files_claim_do_not_overflow() {
    let schema = Arc::new(parse_message_type("message t { required int32 id; }").unwrap());
    let writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(WriterProperties::default())).unwrap();
    let mut bytes = writer.into_inner().unwrap();
    // The number of rows, 0, stands before the empty list of row groups; i64::MAX takes nine bytes more.
    let at = bytes.windows(4).position(|four| four == [0x16, 0, 0x19, 0x0c]).unwrap() + 1;
    bytes.splice(at..=at, [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    let length = bytes.len() - 8;
    bytes[length] += 9;
    let directory = tempfile::tempdir().unwrap();
    for name in ["a.parquet", "b.parquet", "c.parquet"] {
        write(directory.path(), name, &bytes);
    }
    let table = open(directory.path().to_str().unwrap(), &detected()).unwrap();
    assert_eq!(table.rows_hint(), Some(u64::MAX));
}

#[test]
fn damaged_files_are_named() {
    let data = batch(1000);
    let parquet = parquet_bytes(&data, Compression::SNAPPY, 300);
    let ipc = ipc_bytes(&data, false, None, 300);
    let gzipped = [&[0x1f, 0x8b, 8, 0][..], &parquet].concat();
    let cases: &[(&str, &[u8], &str)] = &[
        ("t.parquet", &parquet[..parquet.len() - 20], "t.parquet: damaged or not supported"),
        ("t.parquet", b"a,b\n1,2\n", "t.parquet: damaged or not supported"),
        ("t.arrow", &ipc[..ipc.len() - 20], "t.arrow: damaged or not supported"),
        ("t.arrow", b"a,b\n1,2\n", "t.arrow: damaged or not supported"),
        ("t.parquet", b"", "t.parquet: the file is empty"),
        (
            "t.parquet.gz",
            &gzipped,
            "t.parquet.gz: a Parquet file that is compressed as a whole; unpack it first",
        ),
    ];
    for (name, bytes, expected) in cases {
        let error = table(name, bytes, &detected()).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_damaged_page_fails_when_it_is_read() {
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..100_000));
    let data = RecordBatch::try_from_iter([("id", ids)]).unwrap();
    let mut bytes = parquet_bytes(&data, Compression::SNAPPY, 50_000);
    bytes[2000..2200].fill(0xee);
    let table = table("t.parquet", &bytes, &detected()).unwrap();
    let scan = table.scan(&[0], None).unwrap();
    let first = scan.next_part().unwrap().unwrap().batches.collect::<Result<Vec<_>, _>>();
    let error = first.unwrap_err().to_string();
    assert!(error.contains("t.parquet: damaged"), "{error}");
    let second = scan.next_part().unwrap().unwrap().batches.collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!(second.iter().map(RecordBatch::num_rows).sum::<usize>(), 50_000);
}

#[test]
fn rows_have_numbers() {
    let batch = batch(25);
    let files = [
        ("t.parquet", parquet_bytes(&batch, Compression::UNCOMPRESSED, 10)),
        ("t.arrow", ipc_bytes(&batch, false, None, 10)),
        ("t.arrow", ipc_bytes(&batch, true, None, 10)),
    ];
    for (name, bytes) in files {
        let table = table(name, &bytes, &detected()).unwrap();
        for (part, row, number) in [(0, 0, 1), (1, 0, 11), (2, 4, 25)] {
            let place = table.place(part, row).unwrap();
            assert!(place.ends_with(&format!("{name}, row {number}")), "{place}");
        }
        assert!(table.place(3, 0).is_err());
    }
}
