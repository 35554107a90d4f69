//! How much memory a run may use.

use std::fmt;
use std::str::FromStr;

/// How much memory a run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// This many bytes.
    Bytes(u64),
    /// This share of what is free, from 1 to 100.
    Percent(u8),
}

/// A text that is no amount of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected an amount of memory such as 2GB, 512MiB or 60%")]
pub struct NotMemory;

const UNITS: [(&str, u64); 9] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];

impl FromStr for Memory {
    type Err = NotMemory;

    fn from_str(text: &str) -> Result<Self, NotMemory> {
        let number = |digits: &str| {
            let digits = digits.trim_end();
            let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u64>().ok().filter(|number| is_whole && *number > 0).ok_or(NotMemory)
        };
        if let Some(share) = text.strip_suffix('%') {
            let share = u8::try_from(number(share)?).map_err(|_| NotMemory)?;
            return if share <= 100 { Ok(Self::Percent(share)) } else { Err(NotMemory) };
        }
        let unit =
            UNITS.iter().find_map(|(unit, size)| text.strip_suffix(unit).map(|digits| (digits, *size)));
        let (digits, size) = unit.ok_or(NotMemory)?;
        number(digits)?.checked_mul(size).map(Self::Bytes).ok_or(NotMemory)
    }
}

/// As it is read.
impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{bytes}B"),
            Self::Percent(share) => write!(f, "{share}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Memory, NotMemory};

    #[test]
    fn amounts_of_memory() {
        let table = [
            ("2GB", Ok(Memory::Bytes(2_000_000_000))),
            ("512MiB", Ok(Memory::Bytes(512 << 20))),
            ("60%", Ok(Memory::Percent(60))),
            ("100B", Ok(Memory::Bytes(100))),
            ("0%", Err(NotMemory)),
            ("101%", Err(NotMemory)),
            ("2", Err(NotMemory)),
            ("-2GB", Err(NotMemory)),
            ("99999999999TiB", Err(NotMemory)),
        ];
        for (text, expected) in table {
            assert_eq!(text.parse(), expected, "{text}");
        }
    }
}
