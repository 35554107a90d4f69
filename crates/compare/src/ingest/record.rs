//! The compact record that a row becomes: a fingerprint of its key, a locator, and what is compared.

/// Words of 32 bits that every record starts with: the fingerprint, then the locator.
const FINGERPRINT_WORDS: usize = 4;
const LOCATOR: usize = FINGERPRINT_WORDS;
const CONTENT: usize = LOCATOR + 1;
pub(crate) const HEAD_WORDS: usize = CONTENT;
/// Words of a record with a digest and nothing else.
const SHORTEST: usize = CONTENT + 2;
/// Words of a record that carries one more column of two words, and whether it is NULL.
const WITH_ONE_WORD: usize = SHORTEST + 3;

/// How a column travels in a record beside or instead of the digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carry {
    /// Units of a fixed scale.
    Fixed,
    /// The bits of a float.
    Float,
    /// Any number: mantissa and exponent.
    General,
    /// 64 bits of hash: enough to tell whether two rows differ here.
    Hash64,
    /// 128 bits of hash: enough to count what is distinct in a billion rows.
    Hash128,
    /// Only whether it is NULL.
    Presence,
}

impl Carry {
    const fn words(self) -> usize {
        match self {
            Self::Fixed | Self::Float | Self::Hash64 => 2,
            Self::General => 5,
            Self::Hash128 => 4,
            Self::Presence => 0,
        }
    }
}

/// Where in a record what stands.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    has_digest: bool,
    nulls: usize,
    offsets: Vec<usize>,
    carried: Vec<Carry>,
    stride: usize,
}

impl Layout {
    pub(crate) fn new(has_digest: bool, carried: Vec<Carry>) -> Self {
        let nulls = CONTENT + if has_digest { 2 } else { 0 };
        let mut stride = nulls + carried.len().div_ceil(32);
        let offsets = carried
            .iter()
            .map(|carry| {
                let offset = stride;
                stride += carry.words();
                offset
            })
            .collect();
        Self { has_digest, nulls, offsets, carried, stride }
    }

    /// Words in a record.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    pub(crate) fn has_digest(&self) -> bool {
        self.has_digest
    }

    pub(crate) fn carried(&self) -> &[Carry] {
        &self.carried
    }

    /// Writes everything but the carried columns; all of those start as NULL.
    pub(crate) fn start(&self, record: &mut [u32], fingerprint: u128, locator: u32, digest: u64) {
        put_u64(record, 0, fingerprint as u64);
        put_u64(record, 2, (fingerprint >> 64) as u64);
        record[LOCATOR] = locator;
        if self.has_digest {
            put_u64(record, CONTENT, digest);
        }
        record[self.nulls..self.stride].fill(0);
    }

    /// Where the carried column stands; also marks it as not NULL.
    pub(crate) fn slot<'a>(&self, record: &'a mut [u32], carried: usize) -> &'a mut [u32] {
        record[self.nulls + carried / 32] |= 1 << (carried % 32);
        let offset = self.offsets[carried];
        &mut record[offset..offset + self.carried[carried].words()]
    }

    pub(crate) fn is_null(&self, record: &[u32], carried: usize) -> bool {
        record[self.nulls + carried / 32] & (1 << (carried % 32)) == 0
    }

    /// The carried column's words; meaningless where it is NULL.
    pub(crate) fn value<'a>(&self, record: &'a [u32], carried: usize) -> &'a [u32] {
        let offset = self.offsets[carried];
        &record[offset..offset + self.carried[carried].words()]
    }

    /// Everything that is compared.
    pub(crate) fn content<'a>(&self, record: &'a [u32]) -> &'a [u32] {
        &record[CONTENT..self.stride]
    }

    /// What differs is in a column that the digest covers.
    pub(crate) fn digests_differ(&self, a: &[u32], b: &[u32]) -> bool {
        self.has_digest && a[CONTENT..CONTENT + 2] != b[CONTENT..CONTENT + 2]
    }
}

pub(crate) fn fingerprint(record: &[u32]) -> u128 {
    u128::from(get_u64(record, 0)) | u128::from(get_u64(record, 2)) << 64
}

/// Fingerprint and locator: where the row is, whatever is compared.
pub(crate) fn head(record: &[u32]) -> &[u32] {
    &record[..HEAD_WORDS]
}

pub(crate) fn locator(record: &[u32]) -> u32 {
    record[LOCATOR]
}

pub(crate) fn put_u64(words: &mut [u32], at: usize, value: u64) {
    words[at] = value as u32;
    words[at + 1] = (value >> 32) as u32;
}

pub(crate) fn get_u64(words: &[u32], at: usize) -> u64 {
    u64::from(words[at]) | u64::from(words[at + 1]) << 32
}

pub(crate) fn put_u128(words: &mut [u32], value: u128) {
    put_u64(words, 0, value as u64);
    put_u64(words, 2, (value >> 64) as u64);
}

pub(crate) fn get_u128(words: &[u32]) -> u128 {
    u128::from(get_u64(words, 0)) | u128::from(get_u64(words, 2)) << 64
}

/// Copies a record; the most common lengths without a call.
pub(crate) fn copy(record: &[u32], to: &mut [u32]) {
    match record.len() {
        SHORTEST => copy_words::<SHORTEST>(record, to),
        WITH_ONE_WORD => copy_words::<WITH_ONE_WORD>(record, to),
        _ => to.copy_from_slice(record),
    }
}

fn copy_words<const N: usize>(record: &[u32], to: &mut [u32]) {
    if let (Some(record), Some(to)) = (record.first_chunk::<N>(), to.first_chunk_mut::<N>()) {
        *to = *record;
    }
}

/// Appends a record to a buffer that has room for it.
pub(crate) fn append(record: &[u32], to: &mut Vec<u32>) {
    match record.len() {
        SHORTEST => append_words::<SHORTEST>(record, to),
        WITH_ONE_WORD => append_words::<WITH_ONE_WORD>(record, to),
        _ => to.extend_from_slice(record),
    }
}

fn append_words<const N: usize>(record: &[u32], to: &mut Vec<u32>) {
    if let Some(record) = record.first_chunk::<N>() {
        to.extend_from_slice(record);
    }
}
