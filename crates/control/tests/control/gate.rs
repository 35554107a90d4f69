//! A way to PostgreSQL that can be closed: what is on it stays there, as with a server that hangs.

use std::path::Path;

use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

/// The name of a server's socket in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// The way, which is open until somebody closes it.
pub(crate) struct Gate {
    folder: TempDir,
    is_open: watch::Sender<bool>,
}

impl Gate {
    /// Leads to the server whose socket is in that folder.
    pub(crate) fn to(server: &Path) -> Self {
        let (folder, server) = (tempfile::tempdir().unwrap(), server.join(SOCKET));
        let listener = UnixListener::bind(folder.path().join(SOCKET)).unwrap();
        let is_open = watch::Sender::new(true);
        let watched = is_open.subscribe();
        tokio::spawn(async move {
            loop {
                let (near, _) = listener.accept().await.unwrap();
                let far = UnixStream::connect(&server).await.unwrap();
                let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
                tokio::spawn(forward(near_in, far_out, watched.clone()));
                tokio::spawn(forward(far_in, near_out, watched.clone()));
            }
        });
        Self { folder, is_open }
    }

    /// The folder that clients find the server in.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Lets nothing through from now on.
    pub(crate) fn close(&self) {
        self.is_open.send_replace(false);
    }
}

/// Passes on what comes, while the gate is open, until either side is gone.
async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut is_open: watch::Receiver<bool>,
) {
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        if is_open.wait_for(|is_open| *is_open).await.is_err()
            || to.write_all(&buffer[..count]).await.is_err()
        {
            return;
        }
    }
}
