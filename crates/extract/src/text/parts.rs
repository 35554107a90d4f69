//! A text file in parts: chunks are cut under the lock of a scan and parsed outside of it.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arrow_array::RecordBatch;
use arrow_buffer::{BooleanBuffer, Buffer};
use arrow_schema::Field;

use super::chunks::{Chunks, Pool, make_room, terminate};
use super::{Chunk, Cut, Text};
use crate::column::{Columns, Layout};
use crate::error::{Error, Fault, Problem};
use crate::input::Bytes;
use crate::table::{Found, Part, Parts, Source, Wanted};

/// The records of a chunk.
#[derive(Clone, Copy)]
pub(crate) struct Records<'c> {
    /// Their text, and the padding behind it.
    pub text: &'c [u8],
    /// How long the text is.
    pub len: usize,
    /// Those that are wanted, if not all are.
    pub only: Option<Chosen<'c>>,
}

/// What sets CSV and JSON lines apart.
pub(crate) trait Grammar: Send + Sync {
    /// Finds where a text can be cut.
    fn cut(&self, text: &[u8]) -> Cut;
    /// Reads the wanted records of a chunk into columns.
    fn parse(&self, records: Records<'_>, columns: &mut Columns) -> Result<(), Fault>;
    /// Where the record with this number starts in a chunk, given how many columns there are.
    fn start_of(&self, text: &[u8], row: usize, columns: usize) -> Option<usize>;
    /// What ends a line.
    fn terminator(&self) -> u8;
}

/// Some rows of a chunk.
#[derive(Clone, Copy)]
pub(crate) struct Chosen<'a> {
    pub rows: &'a BooleanBuffer,
    /// Where every [`LANDMARK_ROWS`](crate::column::LANDMARK_ROWS)th row starts, but for the first; nothing when not known.
    pub landmarks: &'a [u32],
}

/// What is known of a text file once its beginning has been looked at.
pub(crate) struct Shape {
    pub fields: Vec<Field>,
    /// Where the first record starts.
    pub start: u64,
    pub chunk_bytes: usize,
    pub rows_hint: Option<u64>,
    pub described: String,
}

/// A text file that is read in chunks.
pub(crate) struct TextFile<G> {
    text: Text,
    shape: Shape,
    grammar: G,
    /// Where the chunks start, and where the last one ends, once a scan has seen them all.
    offsets: OnceLock<Vec<u64>>,
    /// By chunk, where some of its rows start, so that few of them can be read again without reading all.
    landmarks: Mutex<HashMap<usize, Arc<[u32]>>>,
}

impl<G: Grammar> TextFile<G> {
    pub(crate) fn new(text: Text, shape: Shape, grammar: G) -> Self {
        Self { text, shape, grammar, offsets: OnceLock::new(), landmarks: Mutex::default() }
    }

    /// Has every chunk looked at by so many threads, and merges what was seen in order; later scans then know where chunks
    /// are.
    pub(crate) fn survey<T: Send>(
        &self,
        threads: usize,
        look: impl Fn(&[u8], usize) -> Result<T, Fault> + Sync,
        merge: impl FnMut(T) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        let Shape { start, chunk_bytes, .. } = self.shape;
        let terminator = self.grammar.terminator();
        let chunks = Chunks::new(&self.text, start, chunk_bytes, terminator)?;
        let supply = Mutex::new((chunks, Vec::new()));
        let merged = Mutex::new(InOrder::new(merge));
        let work = || {
            let mut buffer = Vec::new();
            while !merged.lock().unwrap_or_else(PoisonError::into_inner).failed {
                let mut guard = supply.lock().unwrap_or_else(PoisonError::into_inner);
                let (chunks, offsets) = &mut *guard;
                let nth = offsets.len();
                let chunk = chunks.next(std::mem::take(&mut buffer), |bytes| self.grammar.cut(bytes));
                if let Ok(Some(chunk)) = &chunk {
                    offsets.push(chunk.offset);
                }
                drop(guard);
                let Some(chunk) = chunk.transpose() else {
                    return;
                };
                let seen = chunk.and_then(|Chunk { offset, bytes, len }| {
                    let looked = check_utf8(&bytes[..len]).and_then(|()| look(&bytes, len));
                    buffer = bytes;
                    looked.map_err(|fault| self.text.error(offset, fault, terminator))
                });
                merged.lock().unwrap_or_else(PoisonError::into_inner).add(nth, seen);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        merged.into_inner().unwrap_or_else(PoisonError::into_inner).result?;
        let (chunks, mut offsets) = supply.into_inner().unwrap_or_else(PoisonError::into_inner);
        offsets.push(chunks.offset());
        self.offsets.get_or_init(|| offsets);
        Ok(())
    }

    /// Changes what was not known before the survey.
    pub(crate) fn learn(&mut self, change: impl FnOnce(&mut G, &mut Shape)) {
        change(&mut self.grammar, &mut self.shape);
    }

    fn batch(
        &self,
        nth: usize,
        chunk: Chunk,
        rows: Option<&BooleanBuffer>,
        shared: &Shared,
    ) -> Result<RecordBatch, Error> {
        let Chunk { offset, bytes, len } = chunk;
        let mut columns = Columns::new(&shared.layout, len);
        let landmarks = rows.and_then(|_| self.landmarks().get(&nth).cloned()).unwrap_or_default();
        let only = rows.map(|rows| Chosen { rows, landmarks: &landmarks });
        let records = Records { text: &bytes, len, only };
        let parsed = check_utf8(&bytes[..len]).and_then(|()| self.grammar.parse(records, &mut columns));
        if rows.is_none() {
            self.landmarks().insert(nth, columns.landmarks().into());
        }
        parsed.map_err(|fault| self.text.error(offset, fault, self.grammar.terminator()))?;
        let buffer = Buffer::from_vec(bytes);
        let batch = columns.finish(&buffer).map_err(|error| self.text.input.damaged(error))?;
        shared.pool.remember(&buffer);
        Ok(batch)
    }

    fn landmarks(&self) -> MutexGuard<'_, HashMap<usize, Arc<[u32]>>> {
        self.landmarks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Merges what threads see of the chunks in the order of those, so that neither the outcome nor the first failure depends on
/// how many threads there are.
struct InOrder<T, M> {
    merge: M,
    /// What was seen of later chunks than the next.
    early: BTreeMap<usize, Result<T, Error>>,
    next: usize,
    /// Whether any chunk has failed, so that no further ones are needed.
    failed: bool,
    result: Result<(), Error>,
}

impl<T, M: FnMut(T) -> Result<(), Error>> InOrder<T, M> {
    fn new(merge: M) -> Self {
        Self { merge, early: BTreeMap::new(), next: 0, failed: false, result: Ok(()) }
    }

    fn add(&mut self, nth: usize, seen: Result<T, Error>) {
        self.failed |= seen.is_err();
        self.early.insert(nth, seen);
        while self.result.is_ok()
            && let Some(seen) = self.early.remove(&self.next)
        {
            self.next += 1;
            self.result = seen.and_then(&mut self.merge);
            self.failed |= self.result.is_err();
        }
    }
}

/// What the parts of one scan have in common.
struct Shared {
    layout: Layout,
    pool: Pool,
}

impl<G: Grammar> Source for TextFile<G> {
    fn fields(&self) -> &[Field] {
        &self.shape.fields
    }

    fn rows_hint(&self) -> Option<u64> {
        self.shape.rows_hint
    }

    fn described(&self) -> String {
        self.shape.described.clone()
    }

    fn place(&self, nth: usize, row: usize) -> Result<Found, Error> {
        let (terminator, columns) = (self.grammar.terminator(), self.shape.fields.len());
        let mut chunks = Chunks::new(&self.text, self.shape.start, self.shape.chunk_bytes, terminator)?;
        let mut parts = 0;
        let mut buffer = Vec::new();
        while let Some(chunk) = chunks.next(buffer, |bytes| self.grammar.cut(bytes))? {
            if parts == nth {
                let start = self.grammar.start_of(&chunk.bytes[..chunk.len], row, columns);
                let start = start.ok_or_else(|| self.text.input.changed())?;
                let line = self.text.line(chunk.offset + start as u64, terminator)?;
                return Ok(Found::Line(line));
            }
            parts += 1;
            buffer = chunk.bytes;
        }
        Ok(Found::Beyond { parts })
    }

    fn parts<'a>(&'a self, wanted: Wanted<'a>) -> Result<Box<dyn Parts<'a> + 'a>, Error> {
        let layout = Layout::new(self.shape.fields.len(), &wanted.columns, wanted.schema(&self.shape.fields));
        let shared = Arc::new(Shared { layout, pool: Pool::default() });
        let (supply, known) = match self.offsets.get() {
            None => (Supply::Unopened, None),
            Some(offsets) => match self.text.seekable()? {
                Some((bytes, start)) => (Supply::Seek(bytes, start), Some(&offsets[..])),
                None => (Supply::Unopened, Some(&offsets[..])),
            },
        };
        Ok(Box::new(TextParts { file: self, wanted, shared, supply, known, seen: Vec::new(), next: 0 }))
    }
}

/// Where chunks come from.
enum Supply<'a> {
    /// From a stream that nobody has needed yet.
    Unopened,
    Stream(Chunks<'a>),
    /// From any place of the file; the text starts at the given one.
    Seek(Bytes, u64),
}

struct TextParts<'a, G> {
    file: &'a TextFile<G>,
    wanted: Wanted<'a>,
    shared: Arc<Shared>,
    supply: Supply<'a>,
    /// The offsets of an earlier scan.
    known: Option<&'a [u64]>,
    /// The offsets of this scan.
    seen: Vec<u64>,
    next: usize,
}

impl<'a, G: Grammar> TextParts<'a, G> {
    fn stream(&mut self) -> Result<&mut Chunks<'a>, Error> {
        if matches!(self.supply, Supply::Unopened) {
            let shape = &self.file.shape;
            let chunks =
                Chunks::new(&self.file.text, shape.start, shape.chunk_bytes, self.file.grammar.terminator())?;
            self.supply = Supply::Stream(chunks);
        }
        match &mut self.supply {
            Supply::Stream(chunks) => Ok(chunks),
            Supply::Unopened | Supply::Seek(..) => Err(self.file.text.input.changed()),
        }
    }

    /// The next chunk when it is not known yet where it ends.
    fn found(&mut self) -> Result<Option<Part<'a>>, Error> {
        loop {
            let file = self.file;
            let buffer = self.shared.pool.take();
            let chunks = self.stream()?;
            let Some(chunk) = chunks.next(buffer, |bytes| file.grammar.cut(bytes))? else {
                let end = chunks.offset();
                self.seen.push(end);
                // Another scan may have been first; its offsets are the same.
                self.file.offsets.get_or_init(|| std::mem::take(&mut self.seen));
                return Ok(None);
            };
            self.seen.push(chunk.offset);
            let nth = self.next;
            self.next += 1;
            if self.wanted.takes(nth) {
                return Ok(Some(self.part(nth, move || Ok(chunk))));
            }
        }
    }

    /// The next wanted chunk when all places are known.
    fn looked_up(&mut self, offsets: &[u64]) -> Result<Option<Part<'a>>, Error> {
        while let Some(&[offset, end]) = offsets.get(self.next..self.next + 2) {
            let nth = self.next;
            self.next += 1;
            if !self.wanted.takes(nth) {
                continue;
            }
            let Ok(len) = usize::try_from(end - offset) else {
                continue;
            };
            if let Supply::Seek(bytes, start) = &self.supply {
                let (bytes, at, file, shared) =
                    (bytes.clone(), start + offset, self.file, Arc::clone(&self.shared));
                let load = move || {
                    let mut buffer = shared.pool.take();
                    make_room(&mut buffer, len);
                    let read = bytes.reader(at).read_exact(&mut buffer[..len]);
                    read.map_err(|source| file.text.input.unreadable(source))?;
                    let len = terminate(&mut buffer, len, file.grammar.terminator());
                    Ok(Chunk { offset, bytes: buffer, len })
                };
                return Ok(Some(self.part(nth, load)));
            }
            let buffer = self.shared.pool.take();
            let chunk = self.stream()?.exactly(buffer, offset, len)?;
            return Ok(Some(self.part(nth, move || Ok(chunk))));
        }
        Ok(None)
    }

    fn part(&self, nth: usize, load: impl FnOnce() -> Result<Chunk, Error> + Send + 'a) -> Part<'a> {
        let (file, rows, shared) = (self.file, self.wanted.chosen(nth), Arc::clone(&self.shared));
        let batch = move || load().and_then(|chunk| file.batch(nth, chunk, rows, &shared));
        Part { number: self.wanted.first + nth, batches: Box::new(std::iter::once_with(batch)) }
    }
}

impl<'a, G: Grammar> Parts<'a> for TextParts<'a, G> {
    fn next(&mut self) -> Result<Option<Part<'a>>, Error> {
        match self.known {
            Some(offsets) => self.looked_up(offsets),
            None => self.found(),
        }
    }

    fn count(&self) -> usize {
        self.next
    }
}

fn check_utf8(text: &[u8]) -> Result<(), Fault> {
    if simdutf8::basic::from_utf8(text).is_ok() {
        return Ok(());
    }
    match std::str::from_utf8(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(Fault::at(error.valid_up_to(), Problem::Utf8)),
    }
}
