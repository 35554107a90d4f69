//! MySQL, on a MariaDB: every type, bound values, refusals, encryption, and being called off.

use std::fmt::Write as _;
use std::net::TcpStream;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use trueup_extract::{Database, Engine, Error, Query, Refused, Table, Value};
use trueup_testkit::{Certified, Fault, Mariadb, Way, certify_server};

use crate::asking::{ask, bound, sql, values};

/// A database that nothing is written to.
fn database() -> &'static str {
    static DATABASE: OnceLock<String> = OnceLock::new();
    DATABASE.get_or_init(|| Mariadb::shared().database().unwrap())
}

fn url() -> String {
    Mariadb::shared().url(database())
}

fn query(url: &str, query: &Query, is_stopped: &(dyn Fn() -> bool + Sync)) -> Result<Table, Error> {
    ask(Engine::Mysql, url, query, is_stopped)
}

fn read(text: &str) -> Result<Table, Error> {
    query(&url(), &sql(text), &|| false)
}

/// Declarations of columns and a value each.
const TYPES: [(&str, &str); 38] = [
    ("tinyint", "-128"),
    ("tinyint unsigned", "255"),
    ("boolean", "true"),
    ("smallint", "-32768"),
    ("mediumint", "-8388608"),
    ("mediumint unsigned", "16777215"),
    ("int", "-2147483648"),
    ("int(5) zerofill", "42"),
    ("bigint", "-9223372036854775808"),
    ("bigint unsigned", "18446744073709551615"),
    ("year", "2026"),
    ("bit(1)", "1"),
    ("bit(64)", "18446744073709551615"),
    ("float", "1.1"),
    ("double", "0.1e0 + 0.2e0"),
    ("decimal(10,2)", "-1.10"),
    ("decimal(38,0)", "12345678901234567890123456789012345678"),
    ("decimal(38,10) unsigned", "1234567890123456789012345678.0123456789"),
    ("decimal(65,30)", "12345678901234567890123456789012345.000000000000000000000000000001"),
    ("date", "'2026-03-29'"),
    ("date", "'0001-01-01'"),
    ("time", "'23:59:59'"),
    ("time(6)", "'00:00:00.000001'"),
    ("datetime", "'2026-03-29 02:30:00'"),
    ("datetime(6)", "'2026-03-29 02:30:00.123456'"),
    ("timestamp(3) null", "'2026-03-29 02:30:00.123'"),
    ("char(8)", "'ab  '"),
    ("varchar(20) character set latin1", "'Größe '"),
    ("text", "'Größe 🦀 '"),
    ("binary(4)", "x'00ff'"),
    ("varbinary(4)", "x'00ff'"),
    ("longblob", "x''"),
    ("enum('a','ß')", "'ß'"),
    ("set('a','b','c')", "'c,a'"),
    ("json", "'{\"b\": 1, \"a\": [2]}'"),
    ("uuid", "'0A1B2C3D-4E5F-4607-8899-aabbccddeeff'"),
    ("inet6", "'::ffff:10.0.0.1'"),
    ("int", "null"),
];

#[test]
fn every_type_is_exact() {
    let server = Mariadb::shared();
    let database = server.database().unwrap();
    let mut shown = String::new();
    for (kind, value) in TYPES {
        // Whatever the server's own settings are.
        let made = format!(
            "set time_zone = '+00:00', sql_mode = ''; create or replace table t (v {kind}); insert into t values ({value})"
        );
        server.run(&database, &made).unwrap();
        let table = query(&server.url(&database), &sql("select v from t"), &|| false).unwrap();
        let found = table.schema().field(0).data_type().clone();
        writeln!(shown, "{kind} {value} is {found}: ‹{}›", values(&table, None).unwrap()[0][0]).unwrap();
    }
    insta::assert_snapshot!(shown, @r#"
    tinyint -128 is Int64: ‹-128›
    tinyint unsigned 255 is UInt64: ‹255›
    boolean true is Int64: ‹1›
    smallint -32768 is Int64: ‹-32768›
    mediumint -8388608 is Int64: ‹-8388608›
    mediumint unsigned 16777215 is UInt64: ‹16777215›
    int -2147483648 is Int64: ‹-2147483648›
    int(5) zerofill 42 is UInt64: ‹42›
    bigint -9223372036854775808 is Int64: ‹-9223372036854775808›
    bigint unsigned 18446744073709551615 is UInt64: ‹18446744073709551615›
    year 2026 is UInt64: ‹2026›
    bit(1) 1 is UInt64: ‹1›
    bit(64) 18446744073709551615 is UInt64: ‹18446744073709551615›
    float 1.1 is Float32: ‹1.1›
    double 0.1e0 + 0.2e0 is Float64: ‹0.30000000000000004›
    decimal(10,2) -1.10 is Decimal128(38, 2): ‹-1.10›
    decimal(38,0) 12345678901234567890123456789012345678 is Decimal128(38, 0): ‹12345678901234567890123456789012345678›
    decimal(38,10) unsigned 1234567890123456789012345678.0123456789 is Decimal128(38, 10): ‹1234567890123456789012345678.0123456789›
    decimal(65,30) 12345678901234567890123456789012345.000000000000000000000000000001 is Utf8View: ‹12345678901234567890123456789012345.000000000000000000000000000001›
    date '2026-03-29' is Date32: ‹2026-03-29›
    date '0001-01-01' is Date32: ‹0001-01-01›
    time '23:59:59' is Time64(µs): ‹23:59:59›
    time(6) '00:00:00.000001' is Time64(µs): ‹00:00:00.000001›
    datetime '2026-03-29 02:30:00' is Timestamp(µs): ‹2026-03-29T02:30:00›
    datetime(6) '2026-03-29 02:30:00.123456' is Timestamp(µs): ‹2026-03-29T02:30:00.123456›
    timestamp(3) null '2026-03-29 02:30:00.123' is Timestamp(µs, "+00:00"): ‹2026-03-29T02:30:00.123Z›
    char(8) 'ab  ' is Utf8View: ‹ab›
    varchar(20) character set latin1 'Größe ' is Utf8View: ‹Größe ›
    text 'Größe 🦀 ' is Utf8View: ‹Größe 🦀 ›
    binary(4) x'00ff' is BinaryView: ‹00ff0000›
    varbinary(4) x'00ff' is BinaryView: ‹00ff›
    longblob x'' is BinaryView: ‹›
    enum('a','ß') 'ß' is Utf8View: ‹ß›
    set('a','b','c') 'c,a' is Utf8View: ‹a,c›
    json '{"b": 1, "a": [2]}' is Utf8View: ‹{"b": 1, "a": [2]}›
    uuid '0A1B2C3D-4E5F-4607-8899-aabbccddeeff' is Utf8View: ‹0a1b2c3d-4e5f-4607-8899-aabbccddeeff›
    inet6 '::ffff:10.0.0.1' is Utf8View: ‹::ffff:10.0.0.1›
    int null is Int64: ‹NULL›
    "#);
}

#[test]
fn settings_of_the_server_change_nothing() {
    let server = Mariadb::start().unwrap();
    let database = server.database().unwrap();
    let odd = "set global time_zone = '+05:00', sql_mode = 'ANSI_QUOTES,PAD_CHAR_TO_FULL_LENGTH,NO_BACKSLASH_ESCAPES', sql_select_limit = 1, group_concat_max_len = 4;
        set global character_set_server = latin1;
        set time_zone = '+00:00';
        create table t (a char(4) character set latin1, b timestamp);
        insert into t values ('é', '2026-03-29 02:30:00'), ('z', '2026-03-29 02:30:00')";
    server.run(&database, odd).unwrap();
    let asked = sql(
        r#"select a, b, "\"" as c, (select group_concat(a order by a) from t, (select 1 union all select 2) as twice) as d from t order by a"#,
    );
    let rows = values(&query(&server.url(&database), &asked, &|| false).unwrap(), None).unwrap();
    assert_eq!(rows[0], ["é", "2026-03-29T02:30:00Z", "\"", "é,é,z,z"]);
    assert_eq!(rows.len(), 2);
}

#[test]
fn values_are_bound_as_what_they_are() {
    let more = [(" and 0.10 = ", Value::Decimal("0.1".to_owned())), (" and true = ", Value::Boolean(true))];
    let asked = bound("select seq from seq_1_to_9 where seq = ", &more);
    assert_eq!(values(&query(&url(), &asked, &|| false).unwrap(), None).unwrap(), [["7"]]);
    let long = "9".repeat(70_000);
    let asked = Query {
        pieces: vec!["select length(".to_owned(), ") as n".to_owned()],
        values: vec![Value::Text(long)],
    };
    assert_eq!(values(&query(&url(), &asked, &|| false).unwrap(), None).unwrap(), [["70000"]]);
    let error = read("select 1 as n where 1 = ?").map(drop).unwrap_err().to_string();
    assert!(error.contains("it has 1 values to bind where 0 are given"), "{error}");
}

#[test]
fn columns_are_known_without_rows() {
    let is_stopped = || false;
    let temp_dir = std::env::temp_dir();
    let (engine, url) = (Engine::Mysql, url());
    let asked = Database {
        engine,
        url: &url,
        place: "erp",
        temp_dir: &temp_dir,
        has_rows: false,
        is_stopped: &is_stopped,
        tell: &|_| (),
    };
    let table = asked.query(&sql("select sleep(600) as a, date(now()) as b")).unwrap();
    assert_eq!((table.schema().fields().len(), table.rows_hint()), (2, Some(0)));
}

#[test]
fn an_empty_result_has_columns() {
    let table = read("select 1 as a, now() as `Größe` from dual where false").unwrap();
    let names: Vec<String> = table.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["a", "Größe"]);
    assert_eq!((table.rows_hint(), values(&table, None).unwrap().len()), (Some(0), 0));
    assert_eq!(table.described(), "MySQL");
}

#[test]
fn rows_of_any_length_are_read_in_parts() {
    let table = read("select seq, md5(seq) as text from seq_1_to_50000").unwrap();
    let rows = values(&table, None).unwrap();
    assert_eq!((table.rows_hint(), rows.len()), (Some(50_000), 50_000));
    assert_eq!(rows[49_999], ["50000", "1017bfd4673955ffee4641ad3d481b1c"]);
    assert_eq!(table.place(1, 0).unwrap(), "erp, row 8193");
    // Longer than a packet, and than a part.
    Mariadb::shared().run(database(), "set global max_allowed_packet = 1073741824").unwrap();
    let wide = read("select seq, repeat('x', 17000000 + seq) as text from seq_1_to_3").unwrap();
    let rows = values(&wide, None).unwrap();
    assert_eq!(rows.iter().map(|row| row[1].len()).collect::<Vec<_>>(), [17_000_001, 17_000_002, 17_000_003]);
}

#[test]
fn refusals_are_told_in_the_words_of_the_database() {
    let server = Mariadb::shared();
    let own = server.database().unwrap();
    server.run(&own, "create table gl (id int, place point); create sequence s").unwrap();
    let (own, port) = (server.url(&own), server.port());
    let stranger = format!("mysql://ann:hunter3@127.0.0.1:{port}/mysql");
    let nobody = format!("mysql://nobody:hunter2@127.0.0.1:{port}/mysql");
    let no_database = format!("mysql://ann:hunter2@127.0.0.1:{port}/nope");
    let encrypted = format!("mysql://ann:hunter2@127.0.0.1:{port}/mysql?ssl-mode=REQUIRED");
    let table = [
        (own.as_str(), "select 1 from nope", Refused::Missing, "nope' doesn't exist"),
        (&own, "select nope from gl", Refused::Missing, "Unknown column 'nope'"),
        (&own, "select nope()", Refused::Missing, "nope does not exist"),
        (&own, "selec 1", Refused::Query, "error in your SQL syntax"),
        (&own, "select 1; select 2", Refused::Query, "error in your SQL syntax"),
        (&own, "create table t (a int)", Refused::Query, "READ ONLY transaction"),
        (&own, "drop table gl", Refused::Query, "a source is a SELECT"),
        (&own, "delete from gl", Refused::Query, "READ ONLY transaction"),
        (&own, "delete from gl returning id", Refused::Query, "READ ONLY transaction"),
        (&own, "insert into gl values (1, null) returning id", Refused::Query, "READ ONLY transaction"),
        (&own, "select nextval(s) as n", Refused::Query, ""),
        (&own, "select 1 into outfile 'x'", Refused::Query, "a source is a SELECT"),
        (&own, "select 1 as a, 2 as a", Refused::Query, "two columns are called \"a\""),
        (
            &own,
            "select place from gl",
            Refused::Query,
            "place is a geometry; write `st_astext(place) as place`",
        ),
        (
            &own,
            "select 18446744073709551615 - 90000 + seq as n from seq_1_to_100000",
            Refused::Query,
            "out of range",
        ),
        (
            &own,
            "select cast('0000-00-00' as date) as due",
            Refused::Query,
            "due in row 1 is 0000-00-00, which is no date",
        ),
        (
            &own,
            "select cast('-01:30' as time) as lag",
            Refused::Query,
            "lag in row 1 is -01:30:00, which is no time of a day",
        ),
        (&own, "select cast('26:30' as time) as lag", Refused::Query, "write `cast(lag as char) as lag`"),
        (&stranger, "select 1", Refused::Connection, "Access denied for user 'ann'"),
        (&nobody, "select 1", Refused::Connection, "Access denied for user 'nobody'"),
        (&no_database, "select 1", Refused::Missing, "Unknown database 'nope'"),
        (&encrypted, "select 1", Refused::Connection, "the server does not encrypt"),
        ("mysql://ann:hunter2@127.0.0.1:1/d", "select 1", Refused::Connection, "refused"),
        ("mysql://ann:hunter2@nowhere.invalid/d", "select 1", Refused::Connection, "lookup"),
        ("mysql://ann:hunter2@h?ssl-mode=maybe", "select 1", Refused::Url, "ssl-mode=maybe"),
    ];
    for (url, text, kind, words) in table {
        match query(url, &sql(text), &|| false).map(|table| values(&table, None)) {
            Err(Error::Database { place, kind: found, problem }) => {
                assert_eq!((place.as_str(), found), ("erp", kind), "{text}: {problem}");
                assert!(problem.contains(words) && !problem.contains("hunter"), "{text}: {problem}");
            }
            other => panic!("{text}: {:?}", other.err()),
        }
    }
    assert_eq!(query(&own, &sql("select id from gl"), &|| false).unwrap().rows_hint(), Some(0));
}

#[test]
fn being_called_off_ends_the_query_on_the_server() {
    let stop = AtomicBool::new(false);
    let stopped = query(&url(), &sql("select sleep(600) as n"), &|| stop.swap(true, Ordering::Relaxed));
    assert!(matches!(stopped, Err(Error::Stopped)), "{:?}", stopped.err());
    let left = "select count(*) as n from information_schema.processlist where info like 'select sleep(600)%' or info like 'select seq from seq_1_to_1000000000000%'";
    while values(&read(left).unwrap(), None).unwrap() != [["0"]] {
        std::thread::yield_now();
    }
}

#[test]
fn a_server_that_says_nothing_need_not_be_waited_for() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    for (engine, scheme) in [(Engine::Mysql, "mysql"), (Engine::Postgres, "postgres")] {
        let stopped = ask(engine, &format!("{scheme}://ann@{address}/d"), &sql("select 1"), &|| true);
        assert!(matches!(stopped, Err(Error::Stopped)), "{scheme}: {:?}", stopped.err());
    }
}

fn reach(port: u16) -> impl Fn() -> std::io::Result<(TcpStream, TcpStream)> + Send + 'static {
    move || TcpStream::connect(("127.0.0.1", port)).and_then(|stream| Ok((stream.try_clone()?, stream)))
}

#[test]
fn a_connection_that_is_cut_half_way_is_no_end_and_not_tried_again() {
    let server = Mariadb::shared();
    for bytes in [5_000, 100_000] {
        let way = Way::to(Fault::CutsOff(bytes), reach(server.port())).unwrap();
        let url = format!("mysql://ann:hunter2@127.0.0.1:{}/{}", way.port(), database());
        let error = query(&url, &sql("select seq from seq_1_to_100000"), &|| false).map(drop).unwrap_err();
        assert!(matches!(error, Error::Database { kind: Refused::Connection, .. }), "{error}");
        assert!(error.to_string().contains("closed the connection"), "{error}");
        assert_eq!(way.taken(), 1);
    }
}

#[test]
fn a_server_that_hangs_up_at_first_is_tried_again() {
    let way = Way::to(Fault::HangsUp(3), reach(Mariadb::shared().port())).unwrap();
    let url = format!("mysql://ann:hunter2@127.0.0.1:{}/{}", way.port(), database());
    let table = query(&url, &sql("select 7 as n"), &|| false).unwrap();
    assert_eq!((values(&table, None).unwrap(), way.taken()), (vec![vec!["7".to_owned()]], 4));
}

#[test]
fn a_socket_is_a_host() {
    let server = Mariadb::shared();
    let socket = server.run(database(), "select @@socket").unwrap().trim_end().replace('/', "%2F");
    let url = format!("mysql://ann:hunter2@{socket}/{}?ssl-mode=REQUIRED", database());
    let table = query(&url, &sql("select user() as u"), &|| false).unwrap();
    assert_eq!(values(&table, None).unwrap(), [["ann@localhost"]]);
}

#[test]
fn a_server_is_trusted_as_asked() {
    let dir = tempfile::tempdir().unwrap();
    let Certified { root, stranger, certificate, key } = certify_server(dir.path());
    let server = Mariadb::start_encrypted(&certificate, &key).unwrap();
    let with = |mode: &str, path: &std::path::Path| format!("ssl-mode={mode}&ssl-ca={}", path.display());
    let table = [
        ("127.0.0.1", "ssl-mode=DISABLED".to_owned(), Ok(false)),
        ("127.0.0.1", String::new(), Ok(true)),
        ("127.0.0.1", "ssl-mode=required".to_owned(), Ok(true)),
        ("127.0.0.1", with("REQUIRED", &stranger), Err("UnknownIssuer")),
        ("127.0.0.1", with("VERIFY_CA", &root), Ok(true)),
        ("127.0.0.1", with("VERIFY_CA", &stranger), Err("UnknownIssuer")),
        ("localhost", with("VERIFY_IDENTITY", &root), Ok(true)),
        ("127.0.0.1", with("VERIFY_IDENTITY", &root), Err("not valid for name")),
    ];
    for (host, parameters, expected) in table {
        let url = format!("mysql://ann:hunter2@{host}:{}/mysql?{parameters}", server.port());
        let cipher = "select variable_value as v from information_schema.session_status where variable_name = 'Ssl_cipher'";
        match (query(&url, &sql(cipher), &|| false), expected) {
            (Ok(table), Ok(is_encrypted)) => {
                assert_eq!(!values(&table, None).unwrap()[0][0].is_empty(), is_encrypted, "{parameters}");
            }
            (Err(Error::Database { problem, kind: Refused::Connection, .. }), Err(words)) => {
                assert!(problem.contains(words), "{parameters}: {problem}");
            }
            (other, _) => panic!("{parameters}: {:?}", other.err()),
        }
    }
}
