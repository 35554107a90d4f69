//! What is in a packet, taken from its front.

use super::Error;

/// The bytes of a packet that have not been taken yet.
#[derive(Debug, Clone, Copy)]
pub struct Packet<'a>(&'a [u8]);

impl<'a> Packet<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// All that is left.
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Takes so many bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Error::Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Takes as many bytes as there have to be for a number.
    pub fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Error::Malformed)?;
        self.0 = rest;
        Ok(*taken)
    }

    /// Takes one byte.
    pub fn byte(&mut self) -> Result<u8, Error> {
        self.fixed().map(|[byte]| byte)
    }

    /// Takes a number of two bytes.
    pub fn short(&mut self) -> Result<u16, Error> {
        self.fixed().map(u16::from_le_bytes)
    }

    /// Takes a number of four bytes.
    pub fn long(&mut self) -> Result<u32, Error> {
        self.fixed().map(u32::from_le_bytes)
    }

    /// Takes a number of as many bytes as its first one says.
    pub fn length(&mut self) -> Result<u64, Error> {
        let wide = match self.byte()? {
            small @ 0..=0xfa => return Ok(small.into()),
            0xfc => self.take(2)?,
            0xfd => self.take(3)?,
            0xfe => self.take(8)?,
            _ => return Err(Error::Malformed),
        };
        Ok(wide.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Takes bytes that have their length before them.
    pub fn text(&mut self) -> Result<&'a [u8], Error> {
        let length = usize::try_from(self.length()?).map_err(|_| Error::Malformed)?;
        self.take(length)
    }

    /// Takes bytes up to a zero, which may be missing at the end.
    pub(super) fn until_zero(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        let taken = &self.0[..end];
        self.0 = &self.0[self.0.len().min(end + 1)..];
        taken
    }
}

/// Writes bytes with their length before them.
pub fn put_text(packet: &mut Vec<u8>, text: &[u8]) {
    match text.len() {
        small @ 0..=0xfa => packet.push(small as u8),
        long => {
            packet.push(0xfe);
            packet.extend_from_slice(&(long as u64).to_le_bytes());
        }
    }
    packet.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_as_wide_as_they_have_to_be() {
        let table: [(&[u8], Option<u64>); 7] = [
            (&[0xfa], Some(250)),
            (&[0xfc, 1, 2], Some(0x201)),
            (&[0xfd, 1, 2, 3], Some(0x0003_0201)),
            (&[0xfe, 1, 0, 0, 0, 0, 0, 0, 1], Some(0x0100_0000_0000_0001)),
            (&[0xfb], None),
            (&[0xfc, 1], None),
            (&[], None),
        ];
        for (bytes, length) in table {
            assert_eq!(Packet::new(bytes).length().ok(), length, "{bytes:?}");
        }
    }

    #[test]
    fn what_is_put_is_taken() {
        for length in [0, 250, 251, 70_000] {
            let text = vec![b'x'; length];
            let mut bytes = Vec::new();
            put_text(&mut bytes, &text);
            let mut packet = Packet::new(&bytes);
            assert_eq!(packet.text().unwrap(), text);
            assert_eq!(packet.rest(), b"");
        }
    }
}
