//! CSV and TSV: dialects, quotes, line ends, NULLs, encodings, and what is refused.

use crate::reading::{CHUNKS, chosen, detected, names, options, outcome, parts, rows, some, table};
use trueup_extract::{Empty, Format, Options, open_reader};

#[test]
fn reads_every_shape_of_record_whatever_the_size_of_parts() {
    let cases: &[(&str, &[u8], &[&[&str]])] = &[
        ("plain", b"a,b\n1,2\n3,4\n", &[&["1", "2"], &["3", "4"]]),
        ("no last newline", b"a,b\n1,2\n3,4", &[&["1", "2"], &["3", "4"]]),
        ("CRLF", b"a,b\r\n1,2\r\n3,4\r\n", &[&["1", "2"], &["3", "4"]]),
        ("CRLF after quotes", b"a,b\r\n1,\"2\"\r\n3,\"\"\r\n", &[&["1", "2"], &["3", ""]]),
        ("CR only", b"a,b\r1,2\r3,4\r", &[&["1", "2"], &["3", "4"]]),
        ("mixed line ends", b"a,b\r\n1,2\n3,4\r\n", &[&["1", "2"], &["3", "4"]]),
        ("BOM", b"\xef\xbb\xbfa,b\n1,2\n", &[&["1", "2"]]),
        ("BOM and quoted header", b"\xef\xbb\xbf\"a\",\"b\"\n1,2\n", &[&["1", "2"]]),
        ("quoted newline", b"a,b\n\"x\ny\",2\n", &[&["x\ny", "2"]]),
        ("quoted CRLF", b"a,b\n\"x\r\ny\",2\n", &[&["x\r\ny", "2"]]),
        ("quoted delimiter", b"a,b\n\"x,y\",2\n", &[&["x,y", "2"]]),
        ("doubled quotes", b"a,b\n\"x\"\"y\",\"\"\"\"\n\"\"\"\",2\n", &[&["x\"y", "\""], &["\"", "2"]]),
        ("long doubled", b"a,b\n\"the \"\"long\"\" and winding road\",2\n", &[&["the \"long\" and winding road", "2"]]),
        ("quote within", b"a,b\n5\" pipe,2\nx\"y\"z,\"3\"\n", &[&["5\" pipe", "2"], &["x\"y\"z", "3"]]),
        ("NULL and empty", b"a,b\n,\"\"\n\"\",\n", &[&["NULL", ""], &["", "NULL"]]),
        ("blank lines", b"\n\na,b\n\n1,2\n\r\n\n3,4\n\n", &[&["1", "2"], &["3", "4"]]),
        ("blank lines of one column", b"a\n1\n\n2\n", &[&["1"], &["NULL"], &["2"]]),
        ("header only", b"a,b\n", &[]),
        ("header without newline", b"a,b", &[]),
        ("semicolons", b"a;b\n1,5;2,5\n", &[&["1,5", "2,5"]]),
        ("tabs", b"a\tb\n1,5\t2,5\n", &[&["1,5", "2,5"]]),
        ("pipes", b"a|b\n1;5|2,5\n", &[&["1;5", "2,5"]]),
        ("comma with other marks", b"a,b\nx|y,1;2\n", &[&["x|y", "1;2"]]),
        ("single quotes", b"a,b\n'x,y','it''s'\n", &[&["x,y", "it's"]]),
        ("apostrophes", b"a,b\n'tis,it's\nx,y\n", &[&["'tis", "it's"], &["x", "y"]]),
        ("spaces stay", b"a,b\n 1 , \"2\" \n", &[&[" 1 ", " \"2\" "]]),
        ("numerals stay", b"a,b\n007,1.10\n1e400,-0\n", &[&["007", "1.10"], &["1e400", "-0"]]),
        ("inline and not", b"a,b\n123456789012,1234567890123\n", &[&["123456789012", "1234567890123"]]),
        ("beyond ASCII", "a,b\nżółć,日本語日本語\n".as_bytes(), &[&["żółć", "日本語日本語"]]),
        ("one column, no delimiter", b"a\n1\n2\n", &[&["1"], &["2"]]),
        ("NUL", b"a,b\n\0,x\0y\n", &[&["\0", "x\0y"]]),
        (
            "several blocks of 64 bytes",
            b"a,b\n0123456789012345678901234567890123456789012345678901234567890123456789,x\n\"0123456789,012345678901234567890123456789012345678901234567890123456789\",\"y\"\n",
            &[
                &["0123456789012345678901234567890123456789012345678901234567890123456789", "x"],
                &["0123456789,012345678901234567890123456789012345678901234567890123456789", "y"],
            ],
        ),
    ];
    for (case, bytes, expected) in cases {
        for chunk in CHUNKS {
            let read = outcome("t.csv", bytes, &options(chunk));
            assert_eq!(read, Ok(some(expected)), "{case}, parts of {chunk} bytes");
        }
    }
}

#[test]
fn refuses_what_is_malformed_and_says_where() {
    let cases: &[(&str, &[u8], &str)] = &[
        ("too few", b"a,b\n1,2\n3\n", "t.csv, line 3, column 2: 1 field where 2 are expected"),
        ("too many", b"a,b\n1,2\n\n3,4,5\n", "t.csv, line 4, column 5: 3 fields where 2 are expected"),
        (
            "after quoted newlines",
            b"a,b\n\"\n\n\",2\n3\n",
            "t.csv, line 5, column 2: 1 field where 2 are expected",
        ),
        (
            "too many in lines",
            b"a,b\n\"x\ny\",2,\"z\"\n",
            "t.csv, line 3, column 6: 3 fields where 2 are expected",
        ),
        ("too few in lines", b"a,b\n\"x\r\ny\"\r\n", "t.csv, line 3, column 3: 1 field where 2 are expected"),
        ("too many of one", b"a\n1\n2,3\n", "t.csv, line 3, column 3: 2 fields where 1 is expected"),
        (
            "unclosed",
            b"a,b\n1,2\n3,\"4\n5,6\n7,8\n",
            "t.csv, line 3, column 3: the quote opened here is never closed",
        ),
        (
            "unclosed header",
            b"a,\"b\n1,2\n",
            "t.csv, line 1, column 3: the quote opened here is never closed",
        ),
        ("after quote", b"a,b\n1,\"2\"x\n", "t.csv, line 2, column 6: text after a closing quote"),
        (
            "after quote, quoted",
            b"a,b\n1,\"2\" \"3\"\n",
            "t.csv, line 2, column 6: text after a closing quote",
        ),
        ("CR after quote", b"a,b\n\"1\"\rx,2\n", "t.csv, line 2, column 4: text after a closing quote"),
        ("bad UTF-8", b"a,b\n1,2\n3,x\xff\n", "t.csv, line 3, column 4: not UTF-8; set the encoding"),
        ("half a character", b"a,b\n1,\xe6\x97\n", "t.csv, line 2, column 3: not UTF-8"),
        ("bad header", b"a,\xff\n1,2\n", "t.csv, line 1, column 3: not UTF-8"),
        ("bad quoted header", b"\"a\"\"\",\"b\xff\"\n1,2\n", "t.csv, line 1, column 9: not UTF-8"),
        ("same name", b"a,b,a\n1,2,3\n", "t.csv, line 1, column 5: two columns are called \"a\""),
        ("no name", b"a,,column_1\n1,2,3\n", "t.csv, line 1, column 3: the name of column 2 is empty"),
        (
            "after a line with the delimiter",
            b"sep=;\na;b;a\n1;2;3\n",
            "t.csv, line 2, column 5: two columns are called \"a\"",
        ),
        (
            "a row after such a line",
            b"sep=;\na;b\n1,2\n",
            "t.csv, line 3, column 4: 1 field where 2 are expected",
        ),
        (
            "UTF-32LE",
            b"\xff\xfe\0\0a\0\0\0,\0\0\0b\0\0\0",
            "t.csv: UTF-32, which is not read; save it as UTF-8",
        ),
        ("UTF-32BE", b"\0\0\xfe\xff\0\0\0a", "t.csv: UTF-32, which is not read; save it as UTF-8"),
        ("empty", b"", "t.csv: the file is empty"),
        ("only a BOM", b"\xef\xbb\xbf", "t.csv: the file is empty"),
        ("only blank lines", b"\n\r\n\n", "t.csv: the file is empty"),
    ];
    for (case, bytes, expected) in cases {
        for chunk in CHUNKS {
            let error = outcome("t.csv", bytes, &options(chunk)).expect_err(case);
            assert!(error.starts_with(expected), "{case}, parts of {chunk} bytes: {error}");
        }
    }
}

#[test]
fn names_the_line_in_later_parts_and_under_compression() {
    let mut bytes = b"a,b\n".to_vec();
    for row in 0..5000 {
        bytes.extend(format!("{row},\"text\nof {row}\"\n").as_bytes());
    }
    bytes.extend(b"x,y,z\n");
    for packed in [bytes.clone(), zstd::encode_all(&bytes[..], 1).unwrap()] {
        let error = outcome("t", &packed, &options(1000)).unwrap_err();
        assert!(error.starts_with("t, line 10002, column 5: 3 fields"), "{error}");
    }
}

#[test]
fn does_as_it_is_told() {
    let set = |change: fn(&mut Options)| {
        let mut options = detected();
        change(&mut options);
        options
    };
    let cases: &[(&str, &[u8], Options, &[&[&str]])] = &[
        ("no header", b"1,2\n3,4\n", set(|o| o.header = Some(false)), &[&["1", "2"], &["3", "4"]]),
        ("delimiter", b"a,b\n1;2,3\n", set(|o| o.delimiter = Some(b',')), &[&["1;2", "3"]]),
        ("odd delimiter", b"a:b\n1:2\n", set(|o| o.delimiter = Some(b':')), &[&["1", "2"]]),
        ("quote", b"a,b\n^x,y^,2\n", set(|o| o.quote = Some(b'^')), &[&["x,y", "2"]]),
        ("quote that is not there", b"a,b\n'x',2\n", set(|o| o.quote = Some(b'"')), &[&["'x'", "2"]]),
        ("all empty are NULL", b"a,b\n,\"\"\n", set(|o| o.empty = Empty::Null), &[&["NULL", "NULL"]]),
        ("all empty are text", b"a,b\n,\"\"\n", set(|o| o.empty = Empty::Text), &[&["", ""]]),
        ("blank line as text", b"a\n\nx\n", set(|o| o.empty = Empty::Text), &[&[""], &["x"]]),
        ("latin1", b"a,b\n\xe9t\xe9,\x80\n", set(|o| o.encoding = Some("latin1".into())), &[&["été", "€"]]),
        ("utf-8", b"a,b\n\xc3\xa9,2\n", set(|o| o.encoding = Some("utf-8".into())), &[&["é", "2"]]),
        ("TSV", b"a,b\tc\n1\t2\n", set(|o| o.format = Some(Format::Tsv)), &[&["1", "2"]]),
    ];
    for (case, bytes, options, expected) in cases {
        for chunk_bytes in CHUNKS {
            let options = Options { chunk_bytes, ..options.clone() };
            assert_eq!(
                outcome("t", bytes, &options),
                Ok(some(expected)),
                "{case}, parts of {chunk_bytes} bytes"
            );
        }
    }
    let nameless = open_reader("t", &b"1,2\n3,4\n"[..], &cases[0].2).unwrap();
    assert_eq!(names(&nameless), ["column_0", "column_1"]);
    let unknown = outcome("t", b"a\n1\n", &set(|o| o.encoding = Some("klingon".into()))).unwrap_err();
    assert!(unknown.starts_with("t: no encoding is called \"klingon\""), "{unknown}");
    let delimiter = outcome("t", b"a\n1\n", &set(|o| o.delimiter = Some(b'\n'))).unwrap_err();
    assert!(delimiter.contains("single ASCII characters"), "{delimiter}");
}

#[test]
fn decodes_utf_16_by_its_mark() {
    let text = "\u{feff}name;città\n\"Žižek; S.\";1\n𝄞;2\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (bytes, name) in [(little, "UTF-16LE"), (big, "UTF-16BE")] {
        for chunk in CHUNKS {
            let table = open_reader("t", &bytes[..], &options(chunk)).unwrap();
            assert_eq!(names(&table), ["name", "città"]);
            assert_eq!(rows(&table).unwrap(), some(&[&["Žižek; S.", "1"], &["𝄞", "2"]]));
            assert_eq!(table.described(), format!("CSV, delimiter ';', {name}, header"));
        }
        let mut cut = bytes.clone();
        cut.truncate(bytes.len() - 1);
        let error = outcome("t", &cut, &options(64)).unwrap_err();
        assert!(error.starts_with(&format!("t, line 3, column 7: not {name}")), "{error}");
    }
}

#[test]
fn columns_without_a_name_are_called_by_their_place() {
    let cases: [(&[u8], &[&str]); 4] = [
        (b",id,v\n0,7,x\n", &["column_0", "id", "v"]),
        (b"id,v,\n7,x,\n", &["id", "v", "column_2"]),
        (b"id,\"\",column_9\n7,x,y\n", &["id", "column_1", "column_9"]),
        (b"sep=,\n,id\n0,7\n", &["column_0", "id"]),
    ];
    for (bytes, expected) in cases {
        assert_eq!(names(&table("t.csv", bytes, &detected()).unwrap()), expected);
    }
}

#[test]
fn a_first_line_can_declare_the_delimiter() {
    let expected = some(&[&["1,5", "x"], &["2,5", "y"]]);
    let told = |delimiter| Options { delimiter: Some(delimiter), ..detected() };
    let headless = Options { header: Some(false), ..detected() };
    let cases: [(&[u8], Options); 6] = [
        (b"sep=;\na;b\n1,5;x\n2,5;y\n", detected()),
        (b"\xef\xbb\xbfSEP=;\r\na;b\r\n1,5;x\r\n2,5;y\r\n", detected()),
        (b"sep=^\na^b\n1,5^x\n2,5^y\n", detected()),
        (b"sep=,\na|b\n1,5|x\n2,5|y\n", told(b'|')),
        (b"sep=;\n1,5;x\n2,5;y\n", headless),
        (b"sep=;\r1,5;x\r2,5;y\r", detected()),
    ];
    for (bytes, given) in cases {
        for chunk_bytes in CHUNKS {
            let given = Options { chunk_bytes, ..given.clone() };
            assert_eq!(outcome("t.csv", bytes, &given), Ok(expected.clone()), "{}", bytes.escape_ascii());
        }
    }
    assert_eq!(names(&table("t.csv", b"sep=;x\n1\n", &detected()).unwrap()), ["sep=", "x"]);
}

#[test]
fn says_what_it_found() {
    let cases: &[(&str, &[u8], &str)] = &[
        ("t.csv", b"a;b\n1;2\n", "CSV, delimiter ';', UTF-8, header"),
        ("t.tsv", b"a,b\n1,2\n", "TSV, delimiter tab, UTF-8, header"),
        ("t.csv", b"a,b\n'x,y',2\n", "CSV, delimiter ',', quote ', UTF-8, header"),
        ("t.csv", b"a,b\r1,2\r", "CSV, delimiter ',', CR line ends, UTF-8, header"),
    ];
    for (name, bytes, expected) in cases {
        assert_eq!(table(name, bytes, &detected()).unwrap().described(), *expected);
    }
}

#[test]
fn numbers_that_go_on_below_are_no_header() {
    let text_after = |rows: usize| format!("{}x,b\n", "1,a\n".repeat(rows));
    let cases: &[(&str, &str, bool)] = &[
        ("names over numbers", "id,x\n1,2\n3,4\n", true),
        ("all text", "a,b\nc,d\ne,f\n", true),
        ("numbers and text", "1,a\n2,b\n", false),
        ("numbers only", "1,2\n3,4\n", false),
        ("one column", "7\n8\n", false),
        ("years beside a name", "id,2023,2024\n1,10,20\n2,30,40\n", true),
        ("years beside a name of text", "name,2023\nx,10\ny,20\n", false),
        ("years beside no name", ",2023,2024\n1,10,20\n", true),
        ("a number over text", "1,a\nx,b\n", true),
        ("a number over numbers and text", "1,a\n2,b\nx,c\n", true),
        ("such a one beside numbers", "1,1\n2,2\nx,3\n", false),
        ("numbers among text", "1,a\n2,b\n3,4\n", true),
        ("one line", "1,2\n", true),
        ("one line without its end", "1,2", true),
        ("one line and blank ones", "\n1,2\n\n", true),
        ("empty fields below", "1,a\n,b\n3,\n", false),
        ("only empty fields below", "1,a\n,b\n,c\n", true),
        ("an empty field over text", "1,\n2,b\n", false),
        ("quoted numbers", "\"1\",\"a\"\n\"2\",\"\"\n", false),
        ("signs, decimals, exponents and spaces", "-1.5,a\n+.5,b\n 1e400 ,c\n", false),
        ("decimal commas", "1,5;a\n2,5;b\n", false),
        ("words that parse as numbers", "inf,a\nnan,b\n", true),
        ("dates", "2024-01-31,a\n2024-02-01,b\n", true),
        ("text in the last record looked at", &text_after(99), true),
        ("text beyond the records looked at", &text_after(100), false),
    ];
    for (case, text, header) in cases {
        let described = |header: Option<bool>| {
            let options = Options { header, ..detected() };
            table("t.csv", text.as_bytes(), &options).map(|table| table.described())
        };
        assert_eq!(!described(None).unwrap().ends_with(", no header"), *header, "{case}");
        assert!(described(Some(false)).unwrap().ends_with(", no header"), "{case}");
    }
    assert_eq!(outcome("t.csv", b"1,a\n2,b\n", &detected()), Ok(some(&[&["1", "a"], &["2", "b"]])));
    let told = Options { header: Some(true), ..detected() };
    assert_eq!(outcome("t.csv", b"1,a\n2,b\n", &told), Ok(some(&[&["2", "b"]])));
}

#[test]
fn an_apostrophe_is_a_quote_only_when_that_is_proven() {
    let later = |last: &str| format!("id,x\n{}{last}\n", "1,'a'\n".repeat(300));
    let beyond_the_first = format!("id,x\n{}2,'b,c'\n", "1,a\n".repeat(300));
    let cases: &[(&str, &str, bool)] = &[
        ("one value of two", "id,x\n1,'a'\n2,b\n", false),
        ("one row", "id,x\n1,'a'\n", false),
        ("all values", "id,x\n1,'a'\n2,'b'\n", true),
        ("all values that are there", "id,x\n1,'a'\n2,\n3,'b'\n", true),
        ("one value that is there", "id,x\n1,'a'\n2,\n3,\n", false),
        ("nothing between them", "id,x\n1,''\n2,''\n", false),
        ("the header and one row", "'id','x'\n1,'a'\n", true),
        ("the header only", "'id','x'\n1,a\n2,b\n", false),
        ("one column, all values", "x\n'a'\n'b'\n", true),
        ("one column, not all", "x\n'a'\nb\n", false),
        ("a delimiter", "id,x\n1,'a,b'\n2,c\n", true),
        ("another delimiter", "id;x\n1;'a,b'\n2;c\n", false),
        ("a newline", "id,x\n1,'a\nb'\n2,c\n", true),
        ("a doubled quote", "id,x\n1,'it''s'\n2,c\n", true),
        ("double quotes elsewhere", "id,x,y\n1,'a',\"p\"\n2,'b',q\n", false),
        ("double quotes and a delimiter", "id,x,y\n1,'a;b',\"p\"\n2,'b;c',q\n", false),
        ("'tis at once", "id,x\n1,'tis\n2,b\n", false),
        ("'tis in the next row", "id,x\n1,'a'\n2,'tis\n3,c\n", false),
        ("'tis in a later row", &later("2,'tis"), false),
        ("'tis, and a later apostrophe", "id,x\n1,a\n2,'tis\n3,the boys'\n", false),
        ("'tis in a single column", "x\na\n'tis\nthe boys'\n", false),
        ("a newline where all is quoted", &later("2,'b\n3,c'"), true),
        ("unquoted in a later row", &later("2,b"), false),
        ("quoted in all rows", &later("2,'b'"), true),
        ("a delimiter in a later row", &beyond_the_first, true),
        ("quotes that take fields away", "id,x,y\n1,'tis,the boys'\n2,a,b\n", false),
    ];
    for (case, text, quoted) in cases {
        let table = open_reader("t.csv", text.as_bytes(), &detected()).unwrap();
        assert_eq!(table.described().contains("quote '"), *quoted, "{case}");
    }
    let literal = outcome("t", b"id,x\n1,'a'\n2,b\n", &detected());
    assert_eq!(literal, Ok(some(&[&["1", "'a'"], &["2", "b"]])));
    let told = Options { quote: Some(b'\''), ..detected() };
    assert_eq!(outcome("t", b"id,x\n1,'a'\n2,b\n", &told), Ok(some(&[&["1", "a"], &["2", "b"]])));
    let tis = outcome("t", later("2,'tis").as_bytes(), &detected()).unwrap();
    assert_eq!(tis[299..], some(&[&["1", "'a'"], &["2", "'tis"]]));
}

#[test]
fn finds_a_header_longer_than_the_sample() {
    let header: Vec<String> = (0..20_000).map(|n| format!("column number {n}")).collect();
    let row: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
    let text = format!("{}\n{}\n", header.join(","), row.join(","));
    let table = open_reader("t", text.as_bytes(), &detected()).unwrap();
    assert_eq!(names(&table), header);
    assert_eq!(parts(&table, &[19_999, 7], None).unwrap(), [(0, some(&[&["19999", "7"]]))]);
}

#[test]
fn yields_the_columns_and_rows_asked_for() {
    let mut text = "id,name,note\n".to_owned();
    for row in 0..500 {
        let note = if row % 7 == 0 { String::new() } else { format!("\"a \"\"note\"\"\nof {row}\"") };
        text.push_str(&format!("{row},customer number {row},{note}\n"));
    }
    let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for chunk in [64, 1000, 1 << 20] {
        for (bytes, scanned) in
            [(text.as_bytes(), false), (text.as_bytes(), true), (&packed[..], false), (&packed[..], true)]
        {
            let fresh = open_reader("t", bytes, &options(chunk)).unwrap();
            let table = open_reader("t", bytes, &options(chunk)).unwrap();
            for columns in [vec![0, 1, 2], vec![2, 0], vec![1, 1], vec![]] {
                let all = parts(&fresh, &columns, None).unwrap();
                for seed in 0..3 {
                    let (selection, expected) = chosen(&all, seed);
                    if scanned {
                        rows(&table).unwrap();
                    }
                    assert_eq!(parts(&table, &columns, Some(&selection)).unwrap(), expected);
                }
            }
        }
    }
}

#[test]
fn guesses_the_number_of_rows() {
    let mut text = "id,name\n".to_owned();
    (0..20_000).for_each(|row| text.push_str(&format!("{row:06},someone\n")));
    let table = open_reader("t", text.as_bytes(), &detected()).unwrap();
    let hint = table.rows_hint().unwrap();
    assert!((19_900..20_100).contains(&hint), "{hint}");
    assert_eq!(table.bytes(), text.len() as u64);
    assert_eq!(outcome("t", b"a,b\n", &detected()), Ok(vec![]));
}

#[test]
fn threads_share_a_scan() {
    let mut text = "id\n".to_owned();
    (0..20_000).for_each(|row| text.push_str(&format!("{row}\n")));
    let table = open_reader("t", text.as_bytes(), &options(512)).unwrap();
    let expected = parts(&table, &[0], None).unwrap();
    let scan = table.scan(&[0], None).unwrap();
    let work = || {
        let mut seen = Vec::new();
        while let Some(part) = scan.next_part().unwrap() {
            let batches: Vec<_> = part.batches.map(Result::unwrap).collect();
            seen.push((part.number, batches.iter().flat_map(crate::reading::texts).collect()));
        }
        seen
    };
    let mut all: crate::reading::Numbered = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    all.sort();
    assert_eq!(all, expected);
}
