//! Logins by MySQL's newer ways, on a server that follows a script: MariaDB has none of them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use trueup_connect::mysql::Server;

const PASSWORD: &str = "hunter2";

fn packet(sequence: u8, body: &[u8]) -> Vec<u8> {
    [&[body.len() as u8, 0, 0, sequence], body].concat()
}

/// What a server of MySQL 8 says first, one that does not encrypt.
fn greeting(plugin: &str) -> Vec<u8> {
    let mut body = b"\x0a8.4.0\0\x07\0\0\0abcdefgh\0".to_vec();
    // Protocol 4.1, passwords that are not sent, ways to log in by name.
    body.extend_from_slice(&0x8200_u16.to_le_bytes());
    body.extend_from_slice(&[45, 2, 0]);
    body.extend_from_slice(&0x0008_u16.to_le_bytes());
    body.push(21);
    body.extend_from_slice(&[0; 10]);
    body.extend_from_slice(b"ijklmnopqrst\0");
    body.extend_from_slice(plugin.as_bytes());
    body.push(0);
    packet(0, &body)
}

/// Connects to a server that greets, hears the answer, and says what is given; gives what came of it and all that it heard.
fn log_in(plugin: &str, says: &[&[u8]]) -> (Result<u32, String>, Vec<u8>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("mysql://ann:{PASSWORD}@{}/d", listener.local_addr().unwrap());
    let greeting = greeting(plugin);
    let says: Vec<Vec<u8>> = (2..).zip(says).map(|(sequence, body)| packet(sequence, body)).collect();
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.write_all(&greeting).unwrap();
        let mut header = [0; 4];
        socket.read_exact(&mut header).unwrap();
        let mut heard = vec![0; usize::from(header[0])];
        socket.read_exact(&mut heard).unwrap();
        socket.write_all(&says.concat()).unwrap();
        socket.read_to_end(&mut heard).unwrap();
        heard
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let reached = Server::at(&url, Duration::from_secs(1)).unwrap();
    let connected = runtime.block_on(reached.connect()).map(|client| client.id());
    (connected.map_err(|error| error.to_string()), server.join().unwrap())
}

/// The way to log in that a server greets with, what it says then, and what comes of it.
type Script = (&'static str, &'static [&'static [u8]], Result<u32, &'static str>);

#[test]
fn a_password_is_proven_and_never_sent_where_others_could_listen() {
    let table: [Script; 6] = [
        ("caching_sha2_password", &[b"\x01\x03", b"\0\0\0\x02\0\0\0"], Ok(7)),
        ("caching_sha2_password", &[b"\x01\x04"], Err("only sent encrypted")),
        ("client_ed25519", &[b"\xfeclient_ed25519\0salt"], Err("a login by client_ed25519")),
        ("mysql_native_password", &[b"\xfemysql_clear_password\0"], Err("a login by mysql_clear_password")),
        ("mysql_native_password", &[b"\xff\x15\x04#28000Access denied"], Err("Access denied")),
        ("mysql_native_password", &[b"\x07"], Err("not what was asked for")),
    ];
    for (plugin, says, expected) in table {
        let (connected, heard) = log_in(plugin, says);
        match (connected, expected) {
            (Ok(id), Ok(expected)) => assert_eq!(id, expected, "{plugin}"),
            (Err(error), Err(words)) => assert!(error.contains(words), "{plugin}: {error}"),
            (connected, _) => panic!("{plugin}: {connected:?}"),
        }
        let holds = |word: &str| heard.windows(word.len()).any(|window| window == word.as_bytes());
        assert!(holds("ann") && !holds(PASSWORD), "{plugin}: {heard:?}");
    }
}
