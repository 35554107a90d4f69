//! What a server says of a column.

use trueup_connect::mysql::{Error, Packet};

/// A column as it is defined.
pub(super) struct Definition {
    pub(super) name: String,
    /// The number of its type in the protocol.
    pub(super) kind: u8,
    /// The number of its character set.
    pub(super) charset: u16,
    /// How long its values are at most.
    pub(super) length: u32,
    pub(super) decimals: u8,
    flags: u16,
}

const UNSIGNED: u16 = 1 << 5;

impl Definition {
    pub(super) fn read(mut packet: Packet<'_>) -> Result<Self, Error> {
        // Catalogue, schema, and the table by its new and by its own name.
        for _ in 0..4 {
            packet.text()?;
        }
        let name = String::from_utf8_lossy(packet.text()?).into_owned();
        packet.text()?;
        packet.length()?;
        let (charset, length) = (packet.short()?, packet.long()?);
        let (kind, flags, decimals) = (packet.byte()?, packet.short()?, packet.byte()?);
        Ok(Self { name, kind, charset, length, decimals, flags })
    }

    pub(super) fn is_unsigned(&self) -> bool {
        self.flags & UNSIGNED != 0
    }

    /// How many digits a decimal has at most: its length is that of a numeral with point and sign.
    pub(super) fn digits(&self) -> u32 {
        let marks = u32::from(self.decimals > 0) + u32::from(!self.is_unsigned());
        self.length.saturating_sub(marks)
    }
}
