//! A server that somebody else has written, gone with the process that started it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A running server at a port of this machine.
#[derive(Debug)]
pub(crate) struct Served {
    server: Child,
    port: u16,
}

impl Served {
    /// Starts a program that serves until its standard input closes, which it does however the test ends, and whose output has the port behind `words`.
    ///
    /// # Panics
    ///
    /// When it does not start: no test that asks for it can go on.
    pub(crate) fn start(program: &mut Command, words: &str) -> Self {
        let started = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let server = started.unwrap_or_else(|error| panic!("{program:?}: {error}; ./test installs it"));
        let mut started = Self { server, port: 0 };
        let mut log = BufReader::new(started.server.stdout.take().expect("it was piped"));
        let mut said = String::new();
        while log.read_line(&mut said).is_ok_and(|read| read > 0) {
            let port = said.rsplit_once(words).and_then(|(_, port)| port.trim().parse().ok());
            if let Some(port) = port {
                // What it logs later has to go somewhere.
                std::thread::spawn(move || io::copy(&mut log, &mut io::sink()));
                started.port = port;
                return started;
            }
        }
        panic!("{program:?} does not start: {said}");
    }

    /// Where it is.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Asks for something that the server has to grant.
    ///
    /// # Panics
    ///
    /// When it does not.
    pub(crate) fn ask(&self, method: &str, path: &str, header: &str, content: &[u8]) {
        let length = content.len();
        let head = format!(
            "{method} /{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{header}Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        let mut answer = String::new();
        let asked = TcpStream::connect(("127.0.0.1", self.port)).and_then(|mut stream| {
            stream.write_all(&[head.as_bytes(), content].concat())?;
            stream.read_to_string(&mut answer)
        });
        let is_granted = answer.starts_with("HTTP/1.1 20");
        assert!(asked.is_ok() && is_granted, "{method} {path}: {asked:?} {answer}");
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.server.stdin.take());
        // Nobody is left to tell.
        drop(self.server.wait());
    }
}
