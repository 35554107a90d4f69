//! A throw-away S3 server, `moto` from Python, gone with the process that started it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Serves until its standard input closes, which it does however the test ends.
const SERVE: &str = "
import os, sys, threading
from moto.server import main
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
main(['-H', '127.0.0.1', '-p', '0'])
";

/// A running server.
#[derive(Debug)]
pub struct S3 {
    server: Child,
    port: u16,
}

impl S3 {
    /// Starts a server with the Python of a virtual environment that `./test` made.
    ///
    /// # Panics
    ///
    /// When it does not start: no test that asks for it can go on.
    pub fn start(environment: &Path) -> Self {
        let python = environment.join("bin/python");
        let server = Command::new(&python)
            .args(["-c", SERVE])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}; ./test installs it", python.display()));
        let mut started = Self { server, port: 0 };
        let mut log = BufReader::new(started.server.stderr.take().expect("it was piped"));
        let mut said = String::new();
        while log.read_line(&mut said).is_ok_and(|read| read > 0) {
            let port = said
                .rsplit_once("Running on http://127.0.0.1:")
                .and_then(|(_, port)| port.trim().parse().ok());
            if let Some(port) = port {
                // What it logs later has to go somewhere.
                std::thread::spawn(move || io::copy(&mut log, &mut io::sink()));
                started.port = port;
                return started;
            }
        }
        panic!("moto does not start: {said}");
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Puts an object, or makes a bucket.
    ///
    /// # Panics
    ///
    /// When the server does not take it.
    pub fn put(&self, path: &str, content: &[u8]) {
        self.ask("PUT", path, content);
    }

    /// Asks from now on who reads, and knows nobody.
    ///
    /// # Panics
    ///
    /// When the server does not take it.
    pub fn ask_who_reads(&self) {
        self.ask("POST", "moto-api/reset-auth", b"0");
    }

    fn ask(&self, method: &str, path: &str, content: &[u8]) {
        let length = content.len();
        let head = format!(
            "{method} /{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        let mut answer = String::new();
        let asked = TcpStream::connect(("127.0.0.1", self.port)).and_then(|mut stream| {
            stream.write_all(&[head.as_bytes(), content].concat())?;
            stream.read_to_string(&mut answer)
        });
        assert!(asked.is_ok() && answer.contains(" 200 OK"), "{method} {path}: {asked:?} {answer}");
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        drop(self.server.stdin.take());
        // Nobody is left to tell.
        drop(self.server.wait());
    }
}
