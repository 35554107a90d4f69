//! How server and client introduce themselves.

use super::Error;
use super::address::Address;
use super::packet::{Packet, put_text};
use super::proof::{self, Challenge};
use super::wire::MOST_BYTES;

/// The version of the protocol.
const VERSION: u8 = 10;
/// `utf8mb4`, in its oldest collation, which every server has.
const CHARSET: u8 = 45;

const LONG_FLAGS: u32 = 1 << 2;
const WITH_DATABASE: u32 = 1 << 3;
const PROTOCOL_41: u32 = 1 << 9;
const ENCRYPTION: u32 = 1 << 11;
const TRANSACTIONS: u32 = 1 << 13;
const SECURE_PASSWORD: u32 = 1 << 15;
const PLUGINS: u32 = 1 << 19;

/// What a server says first.
pub(super) struct Greeting {
    pub(super) id: u32,
    pub(super) challenge: Challenge,
    capabilities: u32,
}

impl Greeting {
    pub(super) fn read(mut packet: Packet<'_>) -> Result<Self, Error> {
        if packet.byte()? != VERSION {
            return Err(Error::Malformed);
        }
        packet.until_zero();
        let id = packet.long()?;
        let mut salt = packet.take(8)?.to_vec();
        packet.byte()?;
        let low = packet.short()?;
        packet.take(3)?;
        let high = packet.short()?;
        let salt_length = usize::from(packet.byte()?);
        packet.take(10)?;
        salt.extend_from_slice(packet.take(salt_length.saturating_sub(8).max(13))?);
        let capabilities = u32::from(high) << 16 | u32::from(low);
        let needed = PROTOCOL_41 | SECURE_PASSWORD | PLUGINS;
        if capabilities & needed != needed {
            return Err(Error::Unfit("the server is too old to be talked to".to_owned()));
        }
        let plugin = String::from_utf8_lossy(packet.until_zero()).into_owned();
        Ok(Self { id, challenge: Challenge::new(plugin, salt), capabilities })
    }

    pub(super) fn can_encrypt(&self) -> bool {
        self.capabilities & ENCRYPTION != 0
    }
}

/// What is said to it.
pub(super) struct Answer<'a> {
    pub(super) address: &'a Address,
    pub(super) greeting: &'a Greeting,
    pub(super) is_encrypted: bool,
}

impl Answer<'_> {
    /// What comes first, and alone before a connection is encrypted.
    pub(super) fn before_encryption(&self) -> Vec<u8> {
        // Not among them: to read files of this machine for the server, and several statements in one.
        let mut ours = LONG_FLAGS | PROTOCOL_41 | TRANSACTIONS | SECURE_PASSWORD | PLUGINS;
        if self.address.database.is_some() {
            ours |= WITH_DATABASE;
        }
        if self.is_encrypted {
            ours |= ENCRYPTION;
        }
        let mut packet = ours.to_le_bytes().to_vec();
        packet.extend_from_slice(&(MOST_BYTES as u32).to_le_bytes());
        packet.push(CHARSET);
        packet.extend_from_slice(&[0; 23]);
        packet
    }

    pub(super) fn packet(&self) -> Vec<u8> {
        let Address { user, password, database, .. } = self.address;
        let challenge = &self.greeting.challenge;
        // A server that asks in a way that is not known here is offered one that is, and asks again.
        let (plugin, proof) = match proof::of(challenge, password) {
            Some(proof) => (challenge.plugin.as_str(), proof),
            None => (proof::OLDEST, Vec::new()),
        };
        let mut packet = self.before_encryption();
        put_ended(&mut packet, user);
        put_text(&mut packet, &proof);
        if let Some(database) = database {
            put_ended(&mut packet, database);
        }
        put_ended(&mut packet, plugin);
        packet
    }
}

/// Writes text with a zero behind it.
fn put_ended(packet: &mut Vec<u8>, text: &str) {
    packet.extend_from_slice(text.as_bytes());
    packet.push(0);
}
