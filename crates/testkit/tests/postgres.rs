//! The throw-away server: it starts, makes databases, comes back after a stop, and leaves nothing behind.

use trueup_testkit::Postgres;

#[test]
fn a_server_comes_back_and_leaves_nothing() {
    let server = Postgres::start().unwrap();
    let url = server.database().unwrap();
    assert_ne!(url, server.database().unwrap());
    let socket = url.split(['@', '/']).nth(3).unwrap().replace(":5432", "").replace("%2F", "/");
    let folder = std::path::Path::new(&socket);
    server.stop().unwrap();
    assert!(folder.join("data").is_dir());
    assert!(server.database().is_err(), "a stopped server makes no database");
    server.start_again().unwrap();
    server.database().unwrap();
    drop(server);
    assert!(!folder.exists());
}
