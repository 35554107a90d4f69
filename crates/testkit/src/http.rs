//! A client that sends exactly what it is told to, and shows all that comes back.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::waiting::PATIENCE;

/// Requests to one server.
#[derive(Debug, Clone)]
pub struct Http {
    address: SocketAddr,
    headers: Vec<(String, String)>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The headers, with names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Http {
    /// Asks the server at an address.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, headers: Vec::new() }
    }

    /// Sends one more header with every request.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Shows a key with every request.
    #[must_use]
    pub fn key(self, key: &str) -> Self {
        self.with("authorization", &format!("Bearer {key}"))
    }

    /// Asks for something.
    pub fn get(&self, path: &str) -> Reply {
        self.send("GET", path, b"")
    }

    /// Sends JSON.
    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.clone().with("content-type", "application/json").send("POST", path, body.to_string().as_bytes())
    }

    /// Sends a request and reads the whole reply.
    ///
    /// # Panics
    ///
    /// Where there is none, since a test that asks for one has failed then.
    pub fn send(&self, method: &str, path: &str, body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.address).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time can be set");
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", self.address);
        for (name, value) in &self.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        let length = body.len();
        write!(stream, "{head}content-length: {length}\r\n\r\n").expect("the server reads");
        // One that has seen enough answers before the end.
        let is_sent = stream.write_all(body).is_ok();
        let mut reply = Vec::new();
        let read = stream.read_to_end(&mut reply);
        assert!(is_sent && read.is_ok() || !reply.is_empty(), "{method} {path}: no reply");
        Reply::parse(&reply)
    }
}

impl Reply {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a reply has a head");
        let head = std::str::from_utf8(&bytes[..end]).expect("a head is text");
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut reply = Self { status: status.expect("a reply has a status"), headers, body: Vec::new() };
        let body = &bytes[end + 4..];
        reply.body =
            if reply.header("transfer-encoding") == Some("chunked") { unchunk(body) } else { body.to_vec() };
        reply
    }

    /// A header, by its name in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    ///
    /// # Panics
    ///
    /// Where it is none, with what it is.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.text()))
    }
}

/// The body of a reply that was sent in pieces.
fn unchunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|window| window == b"\r\n") {
        let length =
            std::str::from_utf8(&bytes[..end]).ok().and_then(|hex| usize::from_str_radix(hex, 16).ok());
        let (length, start) = (length.expect("a piece has a length"), end + 2);
        if length == 0 {
            break;
        }
        body.extend_from_slice(&bytes[start..start + length]);
        bytes = &bytes[start + length + 2..];
    }
    body
}
