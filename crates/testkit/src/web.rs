//! A throw-away web server that encrypts, `http.server` of Python, gone with the process that started it.

use std::path::Path;
use std::process::Command;

use crate::served::Served;

/// Serves the files of the folder it is started in until its standard input closes.
const SERVE: &str = "
import http.server, os, ssl, sys, threading
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
print('port', server.server_port, flush=True)
server.serve_forever()
";

/// A running server.
#[derive(Debug)]
pub struct Web(Served);

impl Web {
    /// Serves a folder at `localhost` as somebody with that certificate and key.
    ///
    /// # Panics
    ///
    /// When it does not start: no test that asks for it can go on.
    pub fn start_encrypted(folder: &Path, certificate: &Path, key: &Path) -> Self {
        let mut python = Command::new("python3");
        python.current_dir(folder).args(["-c", SERVE]).args([certificate, key]);
        Self(Served::start(&mut python, "port "))
    }

    /// Where it is.
    pub fn url(&self) -> String {
        self.0.url().replace("http://127.0.0.1", "https://localhost")
    }
}
