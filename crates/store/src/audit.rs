//! The audit log: who did what, each entry linked to the one before it.
//!
//! A link is the SHA-256 of the link before and of the entry's fields, each with its length in front. Entries are written with what they are about, and linked in the
//! order in which they became visible: inside the same commit on SQLite, by the sequencer on PostgreSQL.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::columns::{damaged, read};
use crate::error::StoreError;
use crate::record::{Audit, Entry};

/// The link that the first entry follows.
pub(crate) const ROOT: Link = [0; 32];

/// The hash that an entry adds to the chain.
pub(crate) type Link = [u8; 32];

/// An entry as its row has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: i64,
    pub(crate) at_ms: i64,
    pub(crate) tenant_id: String,
    pub(crate) actor: String,
    pub(crate) action: String,
    pub(crate) subject: String,
    pub(crate) detail: String,
}

impl Row {
    /// Links the entry to the one before it.
    pub(crate) fn link(&self, before: &Link) -> Link {
        let mut hash = Sha256::new();
        hash.update(before);
        hash.update(self.id.to_be_bytes());
        hash.update(self.at_ms.to_be_bytes());
        for field in [&self.tenant_id, &self.actor, &self.action, &self.subject, &self.detail] {
            hash.update((field.len() as u64).to_be_bytes());
            hash.update(field);
        }
        hash.finalize().into()
    }

    /// What the entry says, at its place in the chain.
    pub(crate) fn read(self, number: i64) -> Result<Audit, StoreError> {
        let Self { at_ms, tenant_id, actor, action, subject, detail, .. } = self;
        let entry = Entry {
            at_ms,
            tenant_id: tenant_id
                .parse()
                .map_err(|error| damaged(format!("the tenant of entry {number}: {error}")))?,
            actor,
            action: action.into(),
            subject,
            detail: read("detail", &detail)?,
        };
        Ok(Audit { number: number.cast_unsigned(), entry })
    }
}

/// The last link of the log, which stands for all of it; who keeps it elsewhere can tell later that nothing was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head(Link);

/// A text that is no head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be the 64 hexadecimal digits that an earlier check printed as `head`")]
pub struct NotAHead;

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Head {
    type Err = NotAHead;

    fn from_str(text: &str) -> Result<Self, NotAHead> {
        let is_hex = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let byte = |place: usize| u8::from_str_radix(&text[2 * place..2 * place + 2], 16);
        let mut link = ROOT;
        for (place, into) in link.iter_mut().enumerate().filter(|_| is_hex) {
            *into = byte(place).map_err(|_| NotAHead)?;
        }
        if is_hex { Ok(Self(link)) } else { Err(NotAHead) }
    }
}

/// What going through the audit log found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audited {
    /// How many entries are linked and right, up to the first fault.
    pub entries: u64,
    /// The last link that is right.
    pub head: Head,
    /// Entries that wait to be linked.
    pub unlinked: u64,
    /// The first thing that is wrong.
    pub fault: Option<Fault>,
}

/// How the audit log was tampered with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// An entry, or its link, says something else than when it was linked.
    #[error("entry {number} was changed")]
    Changed {
        /// Its place in the chain, from 1.
        number: u64,
    },
    /// An entry, or its link, is gone.
    #[error("entry {number} is missing")]
    Missing {
        /// Its place in the chain, from 1.
        number: u64,
    },
    /// A head that was printed once is no part of the log any more.
    #[error("the head {head} is gone: what was linked up to it was cut off or made anew")]
    Cut {
        /// The head that was expected.
        head: Head,
    },
}

/// Checks a chain, link by link.
#[derive(Debug)]
pub(crate) struct Walk {
    head: Link,
    entries: u64,
    fault: Option<Fault>,
    /// A head that has to be passed, until it is.
    expected: Option<Head>,
}

impl Walk {
    pub(crate) fn new(expected: Option<Head>) -> Self {
        Self { head: ROOT, entries: 0, fault: None, expected }
    }

    /// Goes on to the next link in the order of their numbers, and to its entry if there is one; says whether to go on.
    pub(crate) fn step(&mut self, number: i64, entry: Option<&Row>, link: &[u8]) -> bool {
        let next = self.entries + 1;
        self.fault = match entry {
            _ if number.cast_unsigned() != next => Some(Fault::Missing { number: next }),
            None => Some(Fault::Missing { number: next }),
            Some(entry) if entry.link(&self.head) != *link => Some(Fault::Changed { number: next }),
            Some(entry) => {
                self.head = entry.link(&self.head);
                self.entries = next;
                self.expected = self.expected.filter(|expected| expected.0 != self.head);
                None
            }
        };
        self.fault.is_none()
    }

    pub(crate) fn end(self, unlinked: u64) -> Audited {
        let cut = self.expected.filter(|expected| expected.0 != ROOT).map(|head| Fault::Cut { head });
        Audited { entries: self.entries, head: Head(self.head), unlinked, fault: self.fault.or(cut) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: i64) -> Row {
        let text = |text: &str| text.to_owned();
        Row {
            id,
            at_ms: 1_790_000_000_000 + id,
            tenant_id: text("acme"),
            actor: text("ann"),
            action: text("trigger"),
            subject: text("run"),
            detail: text("{}"),
        }
    }

    /// The number of a link, its entry, and the link.
    type Linked = (i64, Row, Link);

    fn chain() -> Vec<Linked> {
        let mut before = ROOT;
        (1..=4)
            .map(|number| {
                before = entry(number).link(&before);
                (number, entry(number), before)
            })
            .collect()
    }

    fn walk(chain: &[Linked], expected: Option<Head>) -> Audited {
        let mut walk = Walk::new(expected);
        chain.iter().all(|(number, entry, link)| walk.step(*number, Some(entry), link));
        walk.end(0)
    }

    #[test]
    fn a_whole_chain_has_no_fault() {
        let audited = walk(&chain(), None);
        assert_eq!((audited.entries, audited.fault), (4, None));
        assert_eq!(audited.head.to_string().parse(), Ok(audited.head));
        assert_eq!(walk(&[], None).entries, 0);
    }

    #[test]
    fn what_was_changed_or_removed_is_found() {
        let missing = |number| Some(Fault::Missing { number });
        let changed = |number| Some(Fault::Changed { number });
        let edit = |change: &dyn Fn(&mut Vec<Linked>)| {
            let mut chain = chain();
            change(&mut chain);
            walk(&chain, None).fault
        };
        assert_eq!(edit(&|chain| chain[2].1.actor = "eve".to_owned()), changed(3));
        assert_eq!(edit(&|chain| chain[2].1.at_ms += 1), changed(3));
        assert_eq!(edit(&|chain| chain[1].2[0] ^= 1), changed(2));
        assert_eq!(edit(&|chain| drop(chain.remove(1))), missing(2));
        assert_eq!(edit(&|chain| chain.swap(1, 2)), missing(2));
        // A field's end cannot be moved into the next one.
        assert_eq!(
            edit(&|chain| (chain[0].1.actor, chain[0].1.action) = ("anntrig".to_owned(), "ger".to_owned())),
            changed(1)
        );
    }

    #[test]
    fn a_chain_that_was_cut_off_lacks_its_head() {
        let head = walk(&chain(), None).head;
        assert_eq!(walk(&chain(), Some(head)).fault, None);
        assert_eq!(walk(&chain()[..3], Some(head)).fault, Some(Fault::Cut { head }));
        let longer = walk(&chain()[..2], None).head;
        assert_eq!(walk(&chain(), Some(longer)).fault, None, "a log that has grown since is whole");
    }

    #[test]
    fn only_a_hash_is_a_head() {
        let short = "ab".repeat(31);
        for text in ["", "head", &short, &"é".repeat(32), &"+f".repeat(32)] {
            assert_eq!(text.parse::<Head>(), Err(NotAHead), "{text}");
        }
    }
}
