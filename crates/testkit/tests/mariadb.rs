//! The throw-away MariaDB: it starts, makes databases, runs statements, and leaves nothing behind.

use std::net::TcpStream;

use trueup_testkit::Mariadb;

#[test]
fn a_server_runs_statements_and_leaves_nothing() {
    let server = Mariadb::start().unwrap();
    let database = server.database().unwrap();
    assert_ne!(database, server.database().unwrap());
    assert_eq!(server.run(&database, "select 'Größe 🦀', 1; select 2").unwrap(), "Größe 🦀\t1\n2\n");
    assert!(server.run(&database, "select 1 from nope").unwrap_err().to_string().contains("nope"));
    let port = server.port();
    TcpStream::connect(("127.0.0.1", port)).unwrap();
    let folder = server.run(&database, "select @@datadir").unwrap().replace("/data/\n", "");
    assert!(std::path::Path::new(&folder).exists());
    drop(server);
    assert!(!std::path::Path::new(&folder).exists());
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}
