//! Ids of events: 64-bit numbers that grow with time and that nodes make without asking each other.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::id::{NUMBER_MAX, UnknownId, number};

/// 2024-01-01T00:00:00Z, from which snowflakes count, in milliseconds since 1970.
const EPOCH_MS: u64 = 1_704_067_200_000;
const NODE_BITS: u32 = 10;
const SEQUENCE_BITS: u32 = 12;
const SEQUENCE_MAX: u64 = (1 << SEQUENCE_BITS) - 1;
const EXPECTED: UnknownId = UnknownId { expected: "a 64-bit number, as text or integer" };

/// Names an event; 41 bits of milliseconds since 2024-01-01, 10 of the node, 12 of a sequence.
///
/// In JSON it is a string, because browsers lose integers past 2^53; on input an integer will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(u64);

impl EventId {
    /// Takes a number that was an id before, such as one read from a column.
    pub fn new(number: u64) -> Result<Self, UnknownId> {
        if number <= NUMBER_MAX { Ok(Self(number)) } else { Err(EXPECTED) }
    }

    /// Reads the forms that producers use: text, or an integer.
    pub fn from_json(value: &Value) -> Result<Self, UnknownId> {
        match value {
            Value::String(text) => text.parse(),
            _ => value.as_u64().ok_or(EXPECTED).and_then(Self::new),
        }
    }

    /// Names an event whose producer has ids of another kind: the same source and id always give the same number.
    pub fn derived(source: &str, id: &str) -> Self {
        // A length in front keeps `a` + `bc` apart from `ab` + `c`.
        let text = format!("{}:{source}{id}", source.len());
        Self(xxhash_rust::xxh3::xxh3_64(text.as_bytes()) & NUMBER_MAX)
    }

    /// The number, at most 63 bits.
    pub fn get(self) -> u64 {
        self.0
    }

    /// When it was made, in milliseconds since 1970.
    pub fn unix_ms(self) -> u64 {
        (self.0 >> (NODE_BITS + SEQUENCE_BITS)) + EPOCH_MS
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for EventId {
    type Err = UnknownId;

    fn from_str(text: &str) -> Result<Self, UnknownId> {
        number(text).map(Self).ok_or(EXPECTED)
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Makes the ids of one node, each greater than the one before.
///
/// It never waits: where the clock goes back it stays at the latest time it has seen, and where a millisecond's 4,096 ids
/// are used up it takes those of the next one, ahead of the clock.
#[derive(Debug)]
pub struct Snowflakes {
    node: u64,
    /// Milliseconds since 2024 and the sequence, as one number that only grows.
    latest: u64,
}

impl Snowflakes {
    /// The number of nodes that can be told apart.
    pub const NODES: u16 = 1 << NODE_BITS;

    /// Starts a generator; nodes that write to one log need different numbers, which count modulo [`Self::NODES`].
    pub fn new(node: u16) -> Self {
        Self { node: u64::from(node % Self::NODES), latest: 0 }
    }

    /// Makes the next id at a time in milliseconds since 1970.
    pub fn next(&mut self, now_ms: u64) -> EventId {
        let now = now_ms.saturating_sub(EPOCH_MS) << SEQUENCE_BITS;
        self.latest = now.max(self.latest + 1);
        let (ms, sequence) = (self.latest >> SEQUENCE_BITS, self.latest & SEQUENCE_MAX);
        // The 41 bits last until 2093; a clock beyond that is wrong, and the sign bit stays clear.
        EventId(((ms << NODE_BITS | self.node) << SEQUENCE_BITS | sequence) & NUMBER_MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bits_are_where_they_belong() {
        let id = Snowflakes::new(5).next(EPOCH_MS + 3);
        assert_eq!(id.get(), 3 << 22 | 5 << 12);
        assert_eq!(id.unix_ms(), EPOCH_MS + 3);
    }

    #[test]
    fn a_full_millisecond_borrows_from_the_next() {
        let mut ids = Snowflakes::new(1);
        let made: Vec<_> = (0..4097).map(|_| ids.next(EPOCH_MS + 10)).collect();
        assert_eq!(made[4095].unix_ms(), EPOCH_MS + 10);
        assert_eq!(made[4096].unix_ms(), EPOCH_MS + 11);
        assert_eq!(made.iter().collect::<BTreeSet<_>>().len(), 4097);
    }

    #[test]
    fn json_forms() {
        let id = EventId(478_775_660_589_088_777);
        assert_eq!(serde_json::to_string(&id).unwrap(), "\"478775660589088777\"");
        for text in ["478775660589088777", "\"478775660589088777\""] {
            assert_eq!(serde_json::from_str::<EventId>(text).unwrap(), id, "{text}");
        }
        for text in ["1.0", "-1", "\"+1\"", "\"\"", "\"x\"", "[1]", "9223372036854775808", "null"] {
            assert!(serde_json::from_str::<EventId>(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn ids_grow_whatever_the_clock_does(clock in prop::collection::vec(EPOCH_MS - 5..EPOCH_MS + 50, 1..200)) {
            let mut ids = Snowflakes::new(1023);
            let made: Vec<_> = clock.iter().map(|now| ids.next(*now)).collect();
            prop_assert!(made.is_sorted_by(|a, b| a < b));
        }

        #[test]
        fn nodes_never_meet(nodes in (0..1024_u16, 0..1024_u16), clock in prop::collection::vec(0..9_u64, 1..100)) {
            prop_assume!(nodes.0 != nodes.1);
            let (mut a, mut b) = (Snowflakes::new(nodes.0), Snowflakes::new(nodes.1));
            let at_a: BTreeSet<_> = clock.iter().map(|now| a.next(EPOCH_MS + now)).collect();
            let at_b: BTreeSet<_> = clock.iter().map(|now| b.next(EPOCH_MS + now)).collect();
            prop_assert!(at_a.is_disjoint(&at_b));
        }
    }
}
