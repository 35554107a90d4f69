//! A way to a server that fails as ways do.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// How it fails.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// The first so many connections are closed at once.
    HangsUp(usize),
    /// Each is closed once the server has sent so many bytes.
    CutsOff(u64),
}

/// A port of this machine that leads to a server, for as long as the process runs.
#[derive(Debug)]
pub struct Way {
    port: u16,
    taken: Arc<AtomicUsize>,
}

impl Way {
    /// Opens a way to what is reached so: its reading and its writing half.
    pub fn to<R, W>(fault: Fault, reach: impl Fn() -> io::Result<(R, W)> + Send + 'static) -> io::Result<Self>
    where
        R: Read + Send + 'static,
        W: Write + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let taken = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&taken);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let before = count.fetch_add(1, Ordering::Relaxed);
                let most_bytes = match fault {
                    Fault::HangsUp(times) if before < times => continue,
                    Fault::HangsUp(_) => u64::MAX,
                    Fault::CutsOff(bytes) => bytes,
                };
                if let Ok(server) = reach() {
                    thread::spawn(move || pass(&client, server, most_bytes));
                }
            }
        });
        Ok(Self { port, taken })
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// How often it has been taken.
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }
}

/// Passes on what both sides say, until one of them ends it.
fn pass<R: Read, W: Write + Send + 'static>(client: &TcpStream, server: (R, W), most_bytes: u64) {
    let (answers, mut asked) = server;
    let Ok(mut asks) = client.try_clone() else { return };
    thread::spawn(move || io::copy(&mut asks, &mut asked));
    // Whatever ended it, the connection is over.
    drop(io::copy(&mut answers.take(most_bytes), &mut &*client));
    drop(client.shutdown(Shutdown::Both));
}
