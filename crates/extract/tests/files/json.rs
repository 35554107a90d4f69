//! JSON lines: values, keys, selections, and what is refused.

use crate::reading::{CHUNKS, chosen, detected, names, options, outcome, parts, some, table};
use trueup_extract::{Error, Format, Options, open_reader};

#[test]
fn reads_every_kind_of_value_whatever_the_size_of_parts() {
    let cases: &[(&str, &str, &[&[&str]])] = &[
        ("plain", "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n", &[&["1", "x"], &["2", "y"]]),
        ("no last newline", "{\"a\":1}", &[&["1"]]),
        ("CRLF and blank lines", "\r\n{\"a\":1}\r\n\n  {\"a\":2}  \r\n", &[&["1"], &["2"]]),
        (
            "numerals stay",
            "{\"a\":1.10,\"b\":-0}\n{\"a\":1e400,\"b\":12345678901234567890.5}",
            &[&["1.10", "-0"], &["1e400", "12345678901234567890.5"]],
        ),
        (
            "words",
            "{\"a\":true,\"b\":false}\n{\"a\":null,\"b\":\"null\"}",
            &[&["true", "false"], &["NULL", "null"]],
        ),
        (
            "missing and late keys",
            "{\"a\":1}\n{}\n{\"b\":2}\n{\"c\":\"\",\"a\":3}",
            &[&["1", "NULL", "NULL"], &["NULL", "NULL", "NULL"], &["NULL", "2", "NULL"], &["3", "NULL", ""]],
        ),
        ("any order", "{\"a\":1,\"b\":2}\n{\"b\":3,\"a\":4}", &[&["1", "2"], &["4", "3"]]),
        (
            "escapes",
            r#"{"a":"\"\\\/\b\f\n\r\t","b":"\u0041\u00e9\u65e5\ud834\udd1e, and so on"}"#,
            &[&["\"\\/\u{8}\u{c}\n\r\t", "Aé日𝄞, and so on"]],
        ),
        ("escaped keys", r#"{"\u0061":1,"b":2}"#, &[&["1", "2"]]),
        ("nested", r#"{"a":[1,{"x":"y z"}],"b":{"k":[]}}"#, &[&[r#"[1,{"x":"y z"}]"#, r#"{"k":[]}"#]]),
        (
            "nested with spaces",
            r#"{"a" : [ 1 , { "x \" y" : "\\" } ] , "b":{ }}"#,
            &[&[r#"[1,{"x \" y":"\\"}]"#, "{}"]],
        ),
        ("beyond ASCII", "{\"a\":\"日本語日本語\",\"ключ\":1}", &[&["日本語日本語", "1"]]),
        ("BOM", "\u{feff}{\"a\":1}\n", &[&["1"]]),
    ];
    for (case, text, expected) in cases {
        for chunk in CHUNKS {
            let read = outcome("t", text.as_bytes(), &options(chunk));
            assert_eq!(read, Ok(some(expected)), "{case}, parts of {chunk} bytes");
        }
    }
}

#[test]
fn refuses_what_is_malformed_and_says_where() {
    let cases: &[(&str, &str)] = &[
        ("{\"a\":1}\n{\"a\":}\n", "t, line 2, column 6: expected a value"),
        ("{\"a\":1}\n[1]\n", "t, line 2, column 1: a JSON array; each line must be one JSON object"),
        ("[{\"a\":1}]\n", "t, line 1, column 1: a JSON array; each line must be one JSON object"),
        ("{\"a\":1}\n7\n", "t, line 2, column 1: each line must be one JSON object"),
        ("{\"a\":1} {\"a\":2}\n", "t, line 1, column 9: text after the object"),
        ("{\"a\":01}", "t, line 1, column 7: a number does not start with a zero"),
        ("{\"a\":1.}", "t, line 1, column 8: expected a digit"),
        ("{\"a\":-}", "t, line 1, column 7: expected a digit"),
        ("{\"a\":nul}", "t, line 1, column 6: expected a value"),
        ("{\"a\":1", "t, line 1, column 7: expected a comma or the end of the object"),
        ("{\"a\":[1,2", "t, line 1, column 10: expected a comma or the end of the array"),
        ("{\"a\":1,}", "t, line 1, column 8: expected a key in quotes"),
        ("{\"a\" 1}", "t, line 1, column 6: expected a colon"),
        ("{\"a\":\"x\ny\"}", "t, line 1, column 6: the string opened here is never closed"),
        ("{\"a\":\"x\ty\"}", "t, line 1, column 8: a control character"),
        ("{\"a\":\"\\x\"}", "t, line 1, column 7: not an escape that JSON has"),
        ("{\"a\":\"\\u12\"}", "t, line 1, column 7: not an escape that JSON has"),
        ("{\"a\":\"\\ud834\"}", "t, line 1, column 7: half of a surrogate pair"),
        ("{\"a\":1}\n{\"b\":1,\"b\":2}\n", "t, line 2, column 9: the key \"b\" occurs twice"),
        ("{\"a\":1,\"\\u0061\":2}\n", "t, line 1, column 9: the key \"a\" occurs twice"),
        ("{}\n{}\n", "t: no object in this file has a key"),
    ];
    for (text, expected) in cases {
        for chunk in CHUNKS {
            let error = outcome("t", text.as_bytes(), &options(chunk)).expect_err(text);
            assert!(error.starts_with(expected), "{text:?}, parts of {chunk} bytes: {error}");
        }
    }
    let bad = outcome("t", b"{\"a\":1}\n{\"a\":\"x\xff\"}\n", &options(64)).unwrap_err();
    assert!(bad.starts_with("t, line 2, column 8: not UTF-8"), "{bad}");
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(5000), "]".repeat(5000));
    assert!(outcome("t", deep.as_bytes(), &detected()).unwrap_err().contains("nested too deep"));
}

#[test]
fn yields_the_columns_and_rows_asked_for() {
    let mut text = String::new();
    for row in 0..500 {
        let note =
            if row % 7 == 0 { String::new() } else { format!(",\"note\":\"a \\\"note\\\" of {row}\"") };
        text.push_str(&format!("{{\"id\":{row},\"name\":\"customer number {row}\"{note}}}\n"));
    }
    let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for chunk in [64, 1000, 1 << 20] {
        for bytes in [text.as_bytes(), &packed[..]] {
            let table = open_reader("t", bytes, &options(chunk)).unwrap();
            assert_eq!(names(&table), ["id", "name", "note"]);
            assert_eq!(table.rows_hint(), Some(500));
            for columns in [vec![0, 1, 2], vec![2, 0], vec![1, 1], vec![]] {
                let all = parts(&table, &columns, None).unwrap();
                assert_eq!(all.iter().map(|(_, rows)| rows.len()).sum::<usize>(), 500);
                for seed in 0..3 {
                    let (selection, expected) = chosen(&all, seed);
                    assert_eq!(parts(&table, &columns, Some(&selection)).unwrap(), expected);
                }
            }
        }
    }
}

#[test]
fn finds_the_same_keys_and_faults_with_any_number_of_threads() {
    let object = |row: usize| format!("{{\"id\":{row},\"k{}\":1,\"m{}\":2}}\n", row * 7 % 100, row / 5);
    let sound: String = (0..500).map(object).collect();
    let twice_broken = format!("{}{{\"id\":}}\n{sound}{{\"id\" 1}}\n", &sound);
    let alone = open_reader("t", sound.as_bytes(), &options(64)).unwrap();
    for threads in [0, 1, 2, 7] {
        let options = Options { threads, ..options(64) };
        let table = open_reader("t", sound.as_bytes(), &options).unwrap();
        assert_eq!(names(&table), names(&alone), "{threads} threads");
        assert_eq!(table.rows_hint(), Some(500), "{threads} threads");
        let error = outcome("t", twice_broken.as_bytes(), &options).unwrap_err();
        assert!(error.starts_with("t, line 501, column 7: expected a value"), "{threads} threads: {error}");
    }
}

#[test]
fn refuses_more_keys_than_columns_make_sense() {
    let objects =
        |keys: usize| (0..keys).map(|key| format!("{{\"k{key}\":1}}\n")).collect::<Vec<_>>().concat();
    let one_object = |keys: usize| {
        let pairs: Vec<String> = (0..keys).map(|key| format!("\"k{key}\":1")).collect();
        format!("{{{}}}\n", pairs.join(","))
    };
    for chunk in [1000, 1 << 20] {
        for threads in [1, 3] {
            let options = Options { threads, ..options(chunk) };
            for text in [objects(10_000), one_object(10_000)] {
                assert_eq!(names(&open_reader("t", text.as_bytes(), &options).unwrap()).len(), 10_000);
            }
            for text in [objects(10_001), one_object(10_001), objects(30_000)] {
                let error = open_reader("t", text.as_bytes(), &options).map(|_| ()).unwrap_err().to_string();
                assert!(error.starts_with("t: more than 10000 different keys"), "{error}");
            }
        }
    }
}

#[test]
fn an_empty_file_has_no_columns_and_is_not_said_to_lack_a_header() {
    let told = Options { format: Some(Format::JsonLines), ..detected() };
    let cases: &[(&str, &[u8], &Options, &str)] = &[
        ("t.jsonl", b"", &detected(), "t.jsonl: the file is empty; there are no columns"),
        ("t.dat", b"", &told, "t.dat: the file is empty; there are no columns"),
        ("t.jsonl", b"\n\n", &detected(), "t.jsonl: no object in this file has a key"),
        ("t.jsonl", b"\xef\xbb\xbf", &detected(), "t.jsonl: no object in this file has a key"),
    ];
    for (name, bytes, options, expected) in cases {
        let error = table(name, bytes, options).map(|_| ()).unwrap_err();
        // Advice about headers goes with that kind of error.
        assert!(!matches!(error, Error::Empty { .. }), "{error}");
        assert!(error.to_string().contains(expected) && !error.to_string().contains("header"), "{error}");
    }
}
