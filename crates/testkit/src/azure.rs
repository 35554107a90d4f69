//! A throw-away server of Azure Blob Storage, `azurite` from npm, gone with the process that started it.

use std::path::Path;
use std::process::Command;

use crate::served::Served;

/// Serves until its standard input closes.
const SERVE: &str = "
process.stdin.resume().on('end', () => process.exit());
process.argv.splice(1, 0, 'azurite-blob');
require('azurite/dist/src/blob/main');
";

/// A running server.
#[derive(Debug)]
pub struct Azure(Served);

impl Azure {
    /// Its only account, and the key of that.
    pub const ACCOUNT: &str = "books";
    /// See [`Self::ACCOUNT`].
    pub const KEY: &str = "aHVudGVyMmh1bnRlcjI=";
    /// What lets in whoever has it: signed with the key, and good for this millennium.
    pub const SAS: &str = "sv=2020-02-10&ss=b&srt=sco&sp=rwlac&se=2999-01-01T00%3A00%3A00Z&sig=20kdAqEbUy4M17kLiluUwYDrzkNImbAyWd6EFTANAsI%3D";

    /// Starts a server from a folder with the modules that `./test` installed.
    ///
    /// # Panics
    ///
    /// When it does not start: no test that asks for it can go on.
    pub fn start(folder: &Path) -> Self {
        let mut node = Command::new("node");
        node.current_dir(folder)
            .args(["-e", SERVE, "--", "--blobPort", "0", "--inMemoryPersistence", "--disableTelemetry"])
            .env("AZURITE_ACCOUNTS", format!("{}:{}", Self::ACCOUNT, Self::KEY));
        Self(Served::start(&mut node, "successfully listens on http://127.0.0.1:"))
    }

    /// Where the account is.
    pub fn url(&self) -> String {
        format!("{}/{}", self.0.url(), Self::ACCOUNT)
    }

    /// Makes a container.
    ///
    /// # Panics
    ///
    /// When the server does not take it.
    pub fn make(&self, container: &str) {
        let path = format!("{}/{container}?restype=container&{}", Self::ACCOUNT, Self::SAS);
        self.0.ask("PUT", &path, "", b"");
    }

    /// Puts a blob.
    ///
    /// # Panics
    ///
    /// When the server does not take it.
    pub fn put(&self, path: &str, content: &[u8]) {
        let path = format!("{}/{path}?{}", Self::ACCOUNT, Self::SAS);
        self.0.ask("PUT", &path, "x-ms-blob-type: BlockBlob\r\n", content);
    }
}
