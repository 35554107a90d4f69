//! A throw-away S3 server, `moto` from Python, gone with the process that started it.

use std::path::Path;
use std::process::Command;

use crate::served::Served;

/// Serves until its standard input closes; its log is its output.
const SERVE: &str = "
import os, sys, threading
from moto.server import main
os.dup2(1, 2)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
main(['-H', '127.0.0.1', '-p', '0'])
";

/// A running server.
#[derive(Debug)]
pub struct S3(Served);

impl S3 {
    /// Starts a server with the Python of a virtual environment that `./test` made.
    ///
    /// # Panics
    ///
    /// When it does not start: no test that asks for it can go on.
    pub fn start(environment: &Path) -> Self {
        let mut python = Command::new(environment.join("bin/python"));
        Self(Served::start(python.args(["-c", SERVE]), "Running on http://127.0.0.1:"))
    }

    /// Where it is.
    pub fn url(&self) -> String {
        self.0.url()
    }

    /// Puts an object, or makes a bucket.
    ///
    /// # Panics
    ///
    /// When the server does not take it.
    pub fn put(&self, path: &str, content: &[u8]) {
        self.0.ask("PUT", path, "", content);
    }

    /// Asks from now on who reads, and knows nobody.
    ///
    /// # Panics
    ///
    /// When the server does not take it.
    pub fn ask_who_reads(&self) {
        self.0.ask("POST", "moto-api/reset-auth", "", b"0");
    }
}
