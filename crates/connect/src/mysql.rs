//! Reaches MySQL and MariaDB, and carries what they are asked and answer, in packets.
//!
//! The client crates there are bring some forty others and roots of their own to trust; this is the part of the protocol
//! that reading needs, over the encryption that PostgreSQL is reached with.

mod address;
mod greeting;
mod packet;
mod proof;
mod wire;

use std::io;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use self::address::{Address, Host};
use self::greeting::{Answer, Greeting};
pub use self::packet::{Packet, put_text};
use self::wire::{Stream, Wire};
use crate::encryption::{Encryption, UrlError, refused};
use crate::tls::Tls;

/// How long one attempt to connect may take.
const ATTEMPT: Duration = Duration::from_secs(5);
/// The command that runs SQL as it is.
const QUERY: u8 = 0x03;

/// Why a server does not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no way to it, or none any more.
    #[error("{0}")]
    Lost(#[from] io::Error),
    /// It refuses, in its own words.
    #[error("{message}")]
    Refused {
        /// The number of the refusal in the manual.
        code: u16,
        /// What it says.
        message: String,
    },
    /// It cannot be talked to in the way that was asked for.
    #[error("{0}")]
    Unfit(String),
    /// It does not speak the protocol.
    #[error("what it sent is not what was asked for")]
    Malformed,
}

/// A server that connections can be made to.
pub struct Server {
    address: Address,
    tls: Tls,
    patience: Duration,
}

impl Server {
    /// Reads a URL, and bounds how long the server may be silent.
    pub fn at(url: &str, patience: Duration) -> Result<Self, UrlError> {
        let (address, trust) = Address::read(url)?;
        Ok(Self { address, tls: Tls::new(trust, None).map_err(refused)?, patience })
    }

    /// Makes a connection.
    pub async fn connect(&self) -> Result<Client, Error> {
        let late = |_| io::Error::new(io::ErrorKind::TimedOut, "no answer in time");
        timeout(ATTEMPT, self.introduce()).await.map_err(late)?
    }

    async fn introduce(&self) -> Result<Client, Error> {
        let mut wire = Wire::new(self.reach().await?);
        let greeting = Greeting::read(wire.receive().await?)?;
        let is_encrypted = match self.address.encryption {
            Encryption::Never => false,
            Encryption::IfOffered => greeting.can_encrypt(),
            Encryption::Always if greeting.can_encrypt() => true,
            Encryption::Always => return Err(Error::Unfit("the server does not encrypt".to_owned())),
        };
        let answer = Answer { address: &self.address, greeting: &greeting, is_encrypted };
        if is_encrypted {
            wire.send(&answer.before_encryption()).await?;
            wire = self.encrypted(wire).await?;
        }
        wire.send(&answer.packet()).await?;
        // Nobody listens in on a socket of this machine.
        let is_private = is_encrypted || matches!(self.address.host, Host::Socket(_));
        proof::give(&mut wire, &self.address.password, &greeting.challenge, is_private).await?;
        Ok(Client { wire, id: greeting.id })
    }

    async fn reach(&self) -> Result<Box<dyn Stream>, Error> {
        Ok(match &self.address.host {
            Host::Socket(path) => Box::new(UnixStream::connect(path).await?),
            Host::Name { name, port } => {
                let stream = TcpStream::connect((name.as_str(), *port)).await?;
                stream.set_nodelay(true)?;
                let keepalive = TcpKeepalive::new().with_time(self.patience).with_interval(ATTEMPT);
                SockRef::from(&stream).set_tcp_keepalive(&keepalive)?;
                Box::new(stream)
            }
        })
    }

    async fn encrypted(&self, wire: Wire) -> Result<Wire, Error> {
        let name = match &self.address.host {
            Host::Name { name, .. } => name.clone(),
            Host::Socket(_) => "localhost".to_owned(),
        };
        let (stream, sequence) = wire.into_parts();
        let encrypted = self.tls.encrypt(name, stream).await;
        let encrypted = encrypted.map_err(|error| match error.downcast::<io::Error>() {
            Ok(lost) => Error::Lost(*lost),
            Err(refusal) => Error::Unfit(refusal.to_string()),
        })?;
        Ok(Wire::resumed(Box::new(encrypted), sequence))
    }
}

/// A connection.
pub struct Client {
    wire: Wire,
    id: u32,
}

impl Client {
    /// The number that the server knows the connection by.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Sends a command; what was answered to the one before has to be received by then.
    pub async fn send(&mut self, command: u8, body: &[u8]) -> Result<(), Error> {
        let mut packet = Vec::with_capacity(1 + body.len());
        packet.push(command);
        packet.extend_from_slice(body);
        self.wire.begin();
        self.wire.send(&packet).await
    }

    /// Receives the next packet of an answer.
    pub async fn receive(&mut self) -> Result<Packet<'_>, Error> {
        self.wire.receive().await
    }

    /// Runs a statement that delivers nothing.
    pub async fn execute(&mut self, sql: &str) -> Result<(), Error> {
        self.send(QUERY, sql.as_bytes()).await?;
        match self.receive().await?.byte()? {
            0 => Ok(()),
            _ => Err(Error::Malformed),
        }
    }
}
