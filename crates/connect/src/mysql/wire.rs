//! Packets on the wire: numbered, of up to 16 MiB, and longer ones in pieces.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

use super::{Error, Packet};

/// The most bytes of one piece; one that is shorter is the last.
const PIECE: usize = 0xff_ffff;
/// The most bytes of a packet, which no server exceeds.
pub(super) const MOST_BYTES: usize = 1 << 30;
/// How much is read at once.
const BUFFER: usize = 1 << 16;
/// What a refusal starts with, whatever was asked.
const REFUSAL: u8 = 0xff;

/// What packets go through.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// One end of a connection.
pub(super) struct Wire {
    stream: BufReader<Box<dyn Stream>>,
    /// The number of the next piece, either way.
    sequence: u8,
    packet: Vec<u8>,
}

impl Wire {
    pub(super) fn new(stream: Box<dyn Stream>) -> Self {
        Self::resumed(stream, 0)
    }

    /// Goes on over another stream.
    pub(super) fn resumed(stream: Box<dyn Stream>, sequence: u8) -> Self {
        Self { stream: BufReader::with_capacity(BUFFER, stream), sequence, packet: Vec::new() }
    }

    pub(super) fn into_parts(self) -> (Box<dyn Stream>, u8) {
        (self.stream.into_inner(), self.sequence)
    }

    /// Begins a new exchange.
    pub(super) fn begin(&mut self) {
        self.sequence = 0;
    }

    pub(super) async fn send(&mut self, packet: &[u8]) -> Result<(), Error> {
        let mut rest = packet;
        loop {
            let (piece, behind) = rest.split_at(rest.len().min(PIECE));
            let [low, middle, high, ..] = piece.len().to_le_bytes();
            self.stream.write_all(&[low, middle, high, self.sequence]).await?;
            self.stream.write_all(piece).await?;
            self.sequence = self.sequence.wrapping_add(1);
            rest = behind;
            if piece.len() < PIECE {
                return Ok(self.stream.flush().await?);
            }
        }
    }

    /// Receives the next packet, unless it is a refusal.
    pub(super) async fn receive(&mut self) -> Result<Packet<'_>, Error> {
        self.packet.clear();
        loop {
            let mut header = [0; 4];
            self.stream.read_exact(&mut header).await.map_err(hung_up)?;
            let [low, middle, high, sequence] = header;
            if sequence != self.sequence {
                return Err(Error::Malformed);
            }
            self.sequence = sequence.wrapping_add(1);
            let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
            let start = self.packet.len();
            if start + length > MOST_BYTES {
                return Err(Error::Malformed);
            }
            self.packet.resize(start + length, 0);
            self.stream.read_exact(&mut self.packet[start..]).await.map_err(hung_up)?;
            if length < PIECE {
                break;
            }
        }
        match self.packet.split_first() {
            Some((&REFUSAL, refusal)) => Err(refused(Packet::new(refusal))?),
            _ => Ok(Packet::new(&self.packet)),
        }
    }
}

fn hung_up(error: io::Error) -> io::Error {
    match error.kind() {
        kind @ io::ErrorKind::UnexpectedEof => io::Error::new(kind, "the server closed the connection"),
        _ => error,
    }
}

fn refused(mut refusal: Packet<'_>) -> Result<Error, Error> {
    let code = refusal.short()?;
    let words = refusal.rest();
    // The state of the SQL standard, which is not there before the two have met.
    let words = if words.first() == Some(&b'#') { words.get(6..).unwrap_or_default() } else { words };
    Ok(Error::Refused { code, message: String::from_utf8_lossy(words).into_owned() })
}
