//! What a path stands for: files, directories, globs, pipes; formats told by name and content; files of one source.

use std::io::Write;

use crate::reading::{CHUNKS, Rows, detected, names, options, rows, some, table, texts, write};
use flate2::Compression;
use flate2::write::GzEncoder;
use trueup_extract::{Format, Options, Table, open, open_reader};

const CSV: &[u8] = b"id,name\n1,x\n2,y\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

fn utf_16(text: &str) -> Vec<u8> {
    "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

#[test]
fn formats_are_told_by_content_and_name() {
    let twice = [gzip(b"id,name\n1,x\n"), gzip(b"2,y\n")].concat();
    let frames = [zstd(b"id,name\n1,x\n"), zstd(b"2,y\n")].concat();
    let json = b"{\"id\":1,\"name\":\"x\"}\n{\"id\":2,\"name\":\"y\"}\n";
    let cases: &[(&str, Vec<u8>, &str)] = &[
        ("t.csv", CSV.to_vec(), "CSV, delimiter ',', UTF-8, header"),
        ("T.CSV", CSV.to_vec(), "CSV, delimiter ',', UTF-8, header"),
        ("t.csv.gz", gzip(CSV), "CSV, delimiter ',', UTF-8, gzip, header"),
        ("t.csv", gzip(CSV), "CSV, delimiter ',', UTF-8, gzip, header"),
        ("t.csv.gz", twice, "CSV, delimiter ',', UTF-8, gzip, header"),
        ("t.csv.gz", CSV.to_vec(), "CSV, delimiter ',', UTF-8, header"),
        ("t.csv.zst", zstd(CSV), "CSV, delimiter ',', UTF-8, zstd, header"),
        ("t.csv.zst", frames, "CSV, delimiter ',', UTF-8, zstd, header"),
        ("t.jsonl", json.to_vec(), "JSON lines, UTF-8"),
        ("t.ndjson.gz", gzip(json), "JSON lines, UTF-8, gzip"),
        ("t.jsonl.zst", zstd(json), "JSON lines, UTF-8, zstd"),
        ("t.log", json.to_vec(), "JSON lines, UTF-8"),
        ("nameless", gzip(json), "JSON lines, UTF-8, gzip"),
        ("part-0001", CSV.to_vec(), "CSV, delimiter ',', UTF-8, header"),
        ("t.dat", gzip(b"\nid\tname\n1\tx\n2\ty\n"), "CSV, delimiter tab, UTF-8, gzip, header"),
        ("t.dat", utf_16("id;name\n1;x\n2;y\n"), "CSV, delimiter ';', UTF-16LE, header"),
    ];
    for (name, bytes, described) in cases {
        for chunk in [8, 1 << 20] {
            let table = table(name, bytes, &options(chunk)).unwrap();
            assert_eq!(table.described(), *described, "{name}");
            assert_eq!(rows(&table).unwrap(), some(&[&["1", "x"], &["2", "y"]]), "{name}");
        }
    }
    for unknown in [&b"id name\n1 x\n"[..], b"about\nthese, and those", b"id,\0\x01\n"] {
        let error = table("t.dat", unknown, &detected()).map(|_| ()).unwrap_err().to_string();
        assert!(
            error.ends_with(
                "t.dat: cannot tell the format; say which it is: csv, tsv, jsonl, parquet, arrow or excel"
            ),
            "{error}"
        );
    }
    for (packer, magic) in
        [("xz", &b"\xfd7zXZ\0\0\x04"[..]), ("bzip2", b"BZh91AY&SY\0"), ("lz4", b"\x04\x22M\x18")]
    {
        let error = table("t.csv", magic, &detected()).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(&format!("t.csv: packed with {packer}, which is not read")), "{error}");
    }
    let told = table("t.dat", b"id\n1\n", &Options { format: Some(Format::Csv), ..detected() }).unwrap();
    assert_eq!(rows(&told).unwrap().len(), 1);
    assert_eq!("ndjson".parse(), Ok(Format::JsonLines));
    assert!("xml".parse::<Format>().unwrap_err().to_string().contains("no format is called \"xml\""));
}

#[test]
fn directories_and_globs_are_one_table() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let all = root.to_str().unwrap();
    write(root, "b.csv", b"name,id\nz,3\n");
    write(root, "a.csv", CSV);
    write(root, "sub/c.csv.gz", &gzip(b"id;name\n4;w\n"));
    write(root, "sub/_SUCCESS", b"");
    write(root, "sub/_x.csv", b"id,name\n5,v\n");
    write(root, "sub/part-0001", b"id|name\n6,u|t\n");
    write(root, ".hidden.csv", b"other\n1\n");
    let table = open(all, &options(4)).unwrap();
    assert_eq!(names(&table), ["id", "name"]);
    let all_rows: [&[&str]; 6] =
        [&["1", "x"], &["2", "y"], &["3", "z"], &["5", "v"], &["4", "w"], &["6,u", "t"]];
    assert_eq!(rows(&table).unwrap(), some(&all_rows));
    assert_eq!(
        table.described(),
        "3 files: CSV, delimiter ',', UTF-8, header; CSV, delimiter ';', UTF-8, gzip, header; CSV, delimiter '|', UTF-8, header"
    );
    let numbers: Vec<usize> =
        crate::reading::parts(&table, &[1], None).unwrap().iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (0..numbers.len()).collect::<Vec<_>>());
    for seed in 0..5 {
        let everything = crate::reading::parts(&table, &[1, 0], None).unwrap();
        let (selection, expected) = crate::reading::chosen(&everything, seed);
        assert_eq!(crate::reading::parts(&table, &[1, 0], Some(&selection)).unwrap(), expected);
        let fresh = open(all, &options(4)).unwrap();
        assert_eq!(crate::reading::parts(&fresh, &[1, 0], Some(&selection)).unwrap(), expected);
    }
    let matched = open(&format!("{all}/*.csv"), &detected()).unwrap();
    assert_eq!(rows(&matched).unwrap().len(), 3);
    let deep = open(&format!("{all}/**/c.*"), &detected()).unwrap();
    assert_eq!(rows(&deep).unwrap(), some(&[&["4", "w"]]));
}

#[cfg(unix)]
#[test]
fn globs_match_names_as_a_shell_does() {
    use std::os::unix::ffi::OsStrExt;
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let file = |name: &str, id: &str| write(root, name, format!("id\n{id}\n").as_bytes());
    file("a/1.csv", "1");
    file("a/.h.csv", "h");
    file("a/b/2.csv", "2");
    file("a/b/.c/3.csv", "3");
    file("a/[x].csv", "x");
    let odd = root.join("a").join(std::ffi::OsStr::from_bytes(b"\xff4.csv"));
    std::fs::write(odd, b"id\n4\n").unwrap();
    std::os::unix::fs::symlink(root.join("a"), root.join("a/b/round")).unwrap();
    let cases = [
        ("a/*.csv", "1 x 4"),
        ("a/?4.csv", "4"),
        ("a/.*.csv", "h"),
        ("a/[0-9].csv", "1"),
        ("a/[[]x].csv", "x"),
        ("*/b/2.csv", "2"),
        ("a/b/.c/*", "3"),
        ("**/2.csv", "2"),
        ("a/**/*.csv", "1 x 2 4"),
        ("./a/../a/1*", "1"),
    ];
    for (pattern, expected) in cases {
        let table = open(root.join(pattern).to_str().unwrap(), &detected()).unwrap();
        let ids: Vec<String> = rows(&table).unwrap().into_iter().flatten().flatten().collect();
        assert_eq!(ids.join(" "), expected, "{pattern}");
    }
    for pattern in ["a/1.csv/*", "gone/*.csv", "a/*/9.csv"] {
        let error = open(root.join(pattern).to_str().unwrap(), &detected()).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("no file matches"), "{pattern}: {error}");
    }
}

#[test]
fn what_is_not_there_or_does_not_fit_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let at = |name: &str| root.join(name).to_str().unwrap().to_owned();
    write(root, "ledger.csv", CSV);
    write(root, "odd/a.csv", CSV);
    write(root, "odd/b.csv", b"id,nmae\n1,x\n");
    write(root, "short/a.csv", CSV);
    write(root, "short/b.csv", b"id\n1\n");
    write(root, "none/_SUCCESS", b"");
    write(root, "some/a.csv", CSV);
    write(root, "some/readme.md", b"# about");
    write(root, "packed/b.csv.xz", b"\xfd7zXZ\0\0\x04");
    write(root, "noted/a.csv", CSV);
    write(root, "noted/b.txt", b"Of files, there are two\n");
    let cases = [
        (
            at("ledgr.csv"),
            format!("{}: no such file or directory; did you mean {}?", at("ledgr.csv"), at("ledger.csv")),
        ),
        (at("ledger.parquet"), format!("did you mean {}?", at("ledger.csv"))),
        (at("unlike"), format!("{}: no such file or directory", at("unlike"))),
        (at("*.parquet"), format!("{}: no file matches", at("*.parquet"))),
        (at("***"), "not a pattern".to_owned()),
        (at("none"), format!("{}: no data files below this directory", at("none"))),
        (at("some"), format!("{}: cannot tell the format", at("some/readme.md"))),
        (at("packed"), format!("{}: packed with xz", at("packed/b.csv.xz"))),
        (
            at("noted"),
            format!("{}: it has a column \"Of files\", unlike {}", at("noted/b.txt"), at("noted/a.csv")),
        ),
        (at("odd"), format!("{}: it has a column \"nmae\", unlike {}", at("odd/b.csv"), at("odd/a.csv"))),
        (
            at("short"),
            format!("{}: it has no column \"name\", unlike {}", at("short/b.csv"), at("short/a.csv")),
        ),
    ];
    for (path, expected) in cases {
        let error = open(&path, &detected()).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(&expected), "{error} instead of {expected}");
    }
    let beyond = open(&at("ledger.csv"), &detected()).unwrap();
    let error = beyond.scan(&[2], None).map(|_| ()).unwrap_err().to_string();
    assert_eq!(error, format!("{}: there is no column 2 among 2", at("ledger.csv")));
}

#[test]
fn a_file_that_changes_between_scans_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "t.csv", CSV);
    let table = open(&path, &detected()).unwrap();
    rows(&table).unwrap();
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"3,z\n").unwrap();
    let error = rows(&table).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("{path}: the file changed while it was being read; run again when nobody writes to it")
    );
}

#[test]
fn a_reader_is_spooled_and_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options { temp_dir: directory.path().to_owned(), ..options(4) };
    let table = open_reader("standard input", CSV, &options).unwrap();
    assert_eq!(rows(&table).unwrap(), some(&[&["1", "x"], &["2", "y"]]));
    drop(table);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    let nowhere = Options::new(directory.path().join("gone"));
    let error = open_reader("standard input", CSV, &nowhere).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("standard input: cannot be kept in "), "{error}");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_like_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let writer = std::thread::spawn({
        let path = path.clone();
        move || std::fs::write(path, CSV).unwrap()
    });
    let table = open(path.to_str().unwrap(), &detected()).unwrap();
    writer.join().unwrap();
    assert_eq!(rows(&table).unwrap(), some(&[&["1", "x"], &["2", "y"]]));
}

/// The id and the place of every row, the id being the first column.
fn places(table: &Table) -> Vec<(String, String)> {
    let scan = table.scan(&[0], None).unwrap();
    let mut places = Vec::new();
    while let Some(part) = scan.next_part().unwrap() {
        let rows: Rows = part.batches.flat_map(|batch| texts(&batch.unwrap())).collect();
        for (row, values) in rows.into_iter().enumerate() {
            let place = table.place(part.number, row).unwrap();
            let file = place.rsplit('/').next().unwrap().to_owned();
            places.push((values[0].clone().unwrap_or_default(), file));
        }
    }
    places
}

#[test]
fn rows_have_places() {
    let directory = tempfile::tempdir().unwrap();
    write(
        directory.path(),
        "d/1.csv",
        b"\xef\xbb\xbfid,note\r\n1,a\r\n\r\n2,\"b\r\nb\"\r\n3,\"c\"\"\"\r\n4,d",
    );
    write(directory.path(), "d/2.csv", b"\n\nid,note\n5,e\n6,f\n");
    write(directory.path(), "d/3.jsonl", b"\n{\"id\":7,\"note\":1}\n  \n{\"id\":8,\"note\":2}\n");
    write(directory.path(), "d/4.csv.gz", &gzip(b"id,note\n9,e\n"));
    let all = "1 1.csv, line 2|2 1.csv, line 4|3 1.csv, line 6|4 1.csv, line 7|5 2.csv, line 4|6 2.csv, line 5|\
               7 3.jsonl, line 2|8 3.jsonl, line 4|9 4.csv.gz, line 2";
    let single = write(directory.path(), "single.csv", b"id\n1\n\n3\n");
    for chunk in CHUNKS {
        let shown = |path: &str| {
            let places = places(&open(path, &options(chunk)).unwrap());
            places.iter().map(|(id, place)| format!("{id} {place}")).collect::<Vec<_>>().join("|")
        };
        assert_eq!(shown(directory.path().join("d").to_str().unwrap()), all, "chunks of {chunk}");
        assert_eq!(shown(&single), "1 single.csv, line 2| single.csv, line 3|3 single.csv, line 4");
    }
    let table = open(&single, &detected()).unwrap();
    let beyond = table.place(7, 0).unwrap_err().to_string();
    assert!(
        beyond.ends_with(
            "single.csv: the file changed while it was being read; run again when nobody writes to it"
        ),
        "{beyond}"
    );
}
