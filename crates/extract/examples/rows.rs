//! Reads a ledger as a comparison would, and out of a database as a bare client does; `bench/extract` and `bench/checksum` build and call it.
//!
//! `rows postgres` starts a server and keeps it until its input ends: each line on its input asks for a fresh database, whose URL it prints.
//! `rows seed ENGINE URL SQL` runs statements. `rows bare ENGINE URL QUERY` throws the rows away, `rows read ENGINE URL QUERY` goes as far as a comparison can start, and
//! `rows decode ENGINE URL QUERY` decodes them all as well; each prints how many there were. `rows file PATH` does that to a file, or to objects whose store the environment tells of.

#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on ends")]

use std::num::NonZero;
use std::pin::pin;
use std::thread;

use futures_util::TryStreamExt;
use tokio_postgres::{Client, NoTls};
use trueup_extract::{Access, Database, Engine, Objects, Options, Query, Scan, Scheme, Table};
use trueup_testkit::Postgres;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["postgres"] => Postgres::keep_for_lines().unwrap(),
        ["seed", "postgres", url, sql] => runtime().block_on(seed(url, sql)),
        ["seed", _, path, sql] => rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap(),
        ["bare", "postgres", url, query] => println!("{} bytes", runtime().block_on(bare(url, query))),
        ["bare", _, path, query] => println!("{}", bare_sqlite(path, query)),
        ["read", engine, url, query] => println!("{}", read(engine, url, query).rows_hint().unwrap()),
        ["decode", engine, url, query] => println!("{}", decode(&read(engine, url, query))),
        ["file", path] => println!("{}", decode(&open(path))),
        _ => panic!("postgres, or seed, bare, read or decode with an engine, a URL and SQL"),
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    // It ends with the client.
    tokio::spawn(connection);
    client
}

async fn seed(url: &str, sql: &str) {
    client(url).await.batch_execute(sql).await.unwrap();
}

async fn bare(url: &str, query: &str) -> usize {
    let client = client(url).await;
    let copy = format!("copy ({query}) to stdout (format binary)");
    let mut rows = pin!(client.copy_out(&copy).await.unwrap());
    let mut bytes = 0;
    while let Some(block) = rows.try_next().await.unwrap() {
        bytes += block.len();
    }
    bytes
}

fn bare_sqlite(path: &str, query: &str) -> usize {
    let connection = rusqlite::Connection::open(path).unwrap();
    let mut statement = connection.prepare(query).unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut count = 0;
    while let Some(row) = rows.next().unwrap() {
        for column in 0..columns {
            std::hint::black_box(row.get_ref(column).unwrap());
        }
        count += 1;
    }
    count
}

fn read(engine: &str, url: &str, query: &str) -> Table {
    let engine = match engine {
        "postgres" => Engine::Postgres,
        "mysql" => Engine::Mysql,
        #[cfg(feature = "odbc")]
        "odbc" => Engine::Odbc,
        _ => Engine::Sqlite,
    };
    let temp_dir = &std::env::temp_dir();
    let (is_stopped, tell) = (&|| false, &|_| ());
    let database = Database { engine, url, place: "ledger", temp_dir, has_rows: true, is_stopped, tell };
    database.query(&Query { pieces: vec![query.to_owned()], values: Vec::new() }).unwrap()
}

fn open(path: &str) -> Table {
    let options = Options::new(std::env::temp_dir());
    let Some(scheme) = Scheme::of(path) else { return trueup_extract::open(path, &options).unwrap() };
    let access = Access::of_environment(scheme, |name| std::env::var(name).ok());
    let objects =
        Objects { url: path, access: &access, has_rows: true, is_stopped: &|| false, tell: &|_, _| () };
    objects.open(&options).unwrap()
}

/// Decodes every row on all cores.
fn decode(table: &Table) -> usize {
    let columns: Vec<usize> = (0..table.schema().fields().len()).collect();
    let scan = table.scan(&columns, None).unwrap();
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..threads).map(|_| scope.spawn(|| count(&scan))).collect();
        readers.into_iter().map(|reader| reader.join().unwrap()).sum()
    })
}

/// Reads parts until there are none left and counts their rows.
fn count(scan: &Scan<'_>) -> usize {
    let mut rows = 0;
    while let Some(part) = scan.next_part().unwrap() {
        rows += part.batches.map(|batch| batch.unwrap().num_rows()).sum::<usize>();
    }
    rows
}
