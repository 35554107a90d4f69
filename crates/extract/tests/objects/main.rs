//! Objects of real stores: what is read of them, and what is said when it cannot be.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod others;
mod s3;
mod web;

use std::path::Path;
use std::sync::Mutex;

use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use trueup_extract::{Access, Error, Objects, Options, Scheme, Table};

/// What would be in the environment, or in a connection.
type Settings<'a> = &'a [(&'a str, &'a str)];

/// Opens what a URL stands for, and says what was told of bytes.
fn open(url: &str, settings: Settings) -> (Result<Table, Error>, Vec<(u64, u64)>) {
    let scheme = Scheme::of(url).unwrap();
    let given =
        |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    let access = match scheme {
        Scheme::Http => Access::of_connection(scheme, |field| Ok::<_, ()>(given(field)), |_| None).unwrap(),
        _ => Access::of_environment(scheme, given),
    };
    let told = Mutex::new(Vec::new());
    let tell = |came, expected| told.lock().unwrap().push((came, expected));
    let objects = Objects { url, access: &access, has_rows: true, is_stopped: &|| false, tell: &tell };
    let place = tempfile::tempdir().unwrap();
    let opened = objects.open(&Options::new(place.path()));
    assert_eq!(place.path().read_dir().unwrap().count(), 0, "temporary files have no names");
    (opened, told.into_inner().unwrap())
}

/// All rows, a line each.
fn rows(table: &Table) -> Vec<String> {
    let columns: Vec<usize> = (0..table.schema().fields().len()).collect();
    let scan = table.scan(&columns, None).unwrap();
    let mut lines = Vec::new();
    while let Some(part) = scan.next_part().unwrap() {
        part.batches.for_each(|batch| lines.extend(shown(&batch.unwrap())));
    }
    lines
}

fn shown(batch: &RecordBatch) -> Vec<String> {
    let options = FormatOptions::default();
    let columns: Vec<ArrayFormatter> =
        batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options).unwrap()).collect();
    let line = |row| columns.iter().map(|column| column.value(row).to_string()).collect::<Vec<_>>().join(",");
    (0..batch.num_rows()).map(line).collect()
}

/// What keeps a URL from being read, without the port, which is another each time.
fn refusal(url: &str, settings: Settings) -> String {
    let error = open(url, settings).0.map(|_| ()).unwrap_err();
    let kind = if let Error::Store { kind, .. } = &error { format!("{kind:?}: ") } else { String::new() };
    let text = format!("{kind}{error}");
    for (name, secret) in settings.iter().filter(|(name, _)| is_secret(name)) {
        assert!(!text.contains(secret), "{name} is told: {text}");
    }
    let port = text
        .split_once("127.0.0.1:")
        .map(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap());
    port.map_or(text.clone(), |port| text.replace(port, "…"))
}

fn is_secret(name: &str) -> bool {
    ["SECRET", "KEY", "TOKEN", "password", "token"].iter().any(|part| name.contains(part))
        && name != "AWS_ACCESS_KEY_ID"
}

fn gzip(text: &str) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn environment_of_moto() -> &'static Path {
    Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/moto"))
}
