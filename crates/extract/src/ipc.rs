//! Arrow IPC files and streams; a part is a record batch.

use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Field, SchemaRef};
use arrow_select::filter::filter_record_batch;

use crate::error::{Error, guarded};
use crate::input::{Bytes, Input};
use crate::table::{Found, Part, Parts, Source, Wanted};

const MAGIC: &[u8] = b"ARROW1";
const CONTINUATION: [u8; 4] = [0xff; 4];

/// An Arrow IPC file or stream whose messages have been found.
pub(crate) struct IpcFile {
    input: Input,
    contents: Contents,
    fields: Vec<Field>,
}

struct Contents {
    kind: &'static str,
    schema: SchemaRef,
    version: MetadataVersion,
    messages: Vec<(Kind, Block)>,
    rows: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Dictionary,
    Batch,
}

impl IpcFile {
    pub(crate) fn open(input: Input) -> Result<Self, Error> {
        let bytes = input.open()?;
        let contents =
            guarded(|| if starts_with_magic(&bytes)? { of_file(&bytes) } else { of_stream(&bytes) });
        let contents = contents.map_err(|problem| input.damaged(problem))?;
        let nullable = |field: &Arc<Field>| Field::new(field.name(), field.data_type().clone(), true);
        let fields = contents.schema.fields().iter().map(nullable).collect();
        Ok(Self { input, contents, fields })
    }

    /// Says that what was read into it came from somewhere else.
    pub(crate) fn described_as(mut self, kind: &'static str) -> Self {
        self.contents.kind = kind;
        self
    }
}

impl Source for IpcFile {
    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn rows_hint(&self) -> Option<u64> {
        Some(self.contents.rows)
    }

    fn described(&self) -> String {
        self.contents.kind.to_owned()
    }

    fn place(&self, nth: usize, row: usize) -> Result<Found, Error> {
        let bytes = self.input.open()?;
        let mut rows = row as u64 + 1;
        let mut parts = 0;
        for (_, block) in self.contents.messages.iter().filter(|(kind, _)| *kind == Kind::Batch) {
            if parts == nth {
                return Ok(Found::Row(rows));
            }
            let in_batch = guarded(|| Message::at(&bytes, number(block.offset())?)?.rows());
            rows = rows.saturating_add(in_batch.map_err(|problem| self.input.damaged(problem))?);
            parts += 1;
        }
        Ok(Found::Beyond { parts })
    }

    fn parts<'a>(&'a self, wanted: Wanted<'a>) -> Result<Box<dyn Parts<'a> + 'a>, Error> {
        let bytes = self.input.open()?;
        let Contents { schema, version, messages, .. } = &self.contents;
        let decoder = FileDecoder::new(Arc::clone(schema), *version).with_projection(wanted.columns.clone());
        let first_batch =
            messages.iter().position(|(kind, _)| *kind == Kind::Batch).unwrap_or(messages.len());
        let changing = messages[first_batch..].iter().any(|(kind, _)| *kind == Kind::Dictionary);
        let mut parts = Messages {
            file: self,
            bytes,
            wanted,
            decoder: Arc::new(decoder),
            changing,
            message: 0,
            batch: 0,
        };
        while parts.message < first_batch {
            parts.read_dictionary(&messages[parts.message].1)?;
            parts.message += 1;
        }
        Ok(Box::new(parts))
    }
}

struct Messages<'a> {
    file: &'a IpcFile,
    bytes: Bytes,
    wanted: Wanted<'a>,
    decoder: Arc<FileDecoder>,
    /// Whether dictionaries change from batch to batch, so that batches must be decoded in order.
    changing: bool,
    message: usize,
    batch: usize,
}

impl Messages<'_> {
    fn read_dictionary(&mut self, block: &Block) -> Result<(), Error> {
        let decoder = Arc::get_mut(&mut self.decoder);
        let read = guarded(|| match decoder {
            Some(decoder) => decoder.read_dictionary(block, &load(&self.bytes, block)?),
            None => Err(ArrowError::IpcError("a dictionary comes while batches are decoded".to_owned())),
        });
        read.map_err(|problem| self.file.input.damaged(problem))
    }
}

impl<'a> Parts<'a> for Messages<'a> {
    fn next(&mut self) -> Result<Option<Part<'a>>, Error> {
        let file = self.file;
        while let Some((kind, block)) = file.contents.messages.get(self.message) {
            self.message += 1;
            if *kind == Kind::Dictionary {
                self.read_dictionary(block)?;
                continue;
            }
            let nth = self.batch;
            self.batch += 1;
            if !self.wanted.takes(nth) {
                continue;
            }
            let rows = self.wanted.chosen(nth);
            let number = self.wanted.first + nth;
            let schema = self.wanted.schema(&file.fields);
            if self.changing {
                let batch = file.batch(&self.decoder, &self.bytes, block, rows, schema);
                return Ok(Some(Part { number, batches: Box::new(std::iter::once(batch)) }));
            }
            let (decoder, bytes) = (Arc::clone(&self.decoder), self.bytes.clone());
            let batch = move || file.batch(&decoder, &bytes, block, rows, schema);
            return Ok(Some(Part { number, batches: Box::new(std::iter::once_with(batch)) }));
        }
        Ok(None)
    }

    fn count(&self) -> usize {
        self.batch
    }
}

impl IpcFile {
    fn batch(
        &self,
        decoder: &FileDecoder,
        bytes: &Bytes,
        block: &Block,
        rows: Option<&BooleanBuffer>,
        schema: SchemaRef,
    ) -> Result<RecordBatch, Error> {
        let decode = || {
            let batch = decoder.read_record_batch(block, &load(bytes, block)?)?;
            let batch = batch.ok_or_else(|| ArrowError::IpcError("a batch without content".to_owned()))?;
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let batch = RecordBatch::try_new_with_options(schema, batch.columns().to_vec(), &options)?;
            match rows {
                None => Ok(batch),
                Some(rows) if rows.len() != batch.num_rows() => Err(ArrowError::InvalidArgumentError(
                    format!("{} rows where {} were", batch.num_rows(), rows.len()),
                )),
                Some(rows) => filter_record_batch(&batch, &BooleanArray::new(rows.clone(), None)),
            }
        };
        guarded(decode).map_err(|problem| self.input.damaged(problem))
    }
}

fn starts_with_magic(bytes: &Bytes) -> Result<bool, ArrowError> {
    Ok(bytes.len() >= 6 && bytes.exact(0, 6)? == MAGIC)
}

/// Finds the messages of a file by its footer.
fn of_file(bytes: &Bytes) -> Result<Contents, ArrowError> {
    let trailer = bytes.exact(bytes.len().saturating_sub(10), 10)?;
    let length = read_footer_length(trailer.try_into().map_err(|_| invalid("no footer"))?)? as u64;
    let start =
        bytes.len().checked_sub(10 + length).ok_or_else(|| invalid("the footer is longer than the file"))?;
    let footer = bytes.exact(start, length)?;
    let footer = root_as_footer(&footer).map_err(invalid)?;
    let schema = footer.schema().ok_or_else(|| invalid("no schema"))?;
    let mut contents = Contents {
        kind: "Arrow IPC file",
        schema: Arc::new(try_fb_to_schema(schema)?),
        version: footer.version(),
        messages: footer.dictionaries().iter().flatten().map(|block| (Kind::Dictionary, *block)).collect(),
        rows: 0,
    };
    for block in footer.recordBatches().iter().flatten() {
        let message = Message::at(bytes, number(block.offset())?)?;
        contents.rows = contents.rows.saturating_add(message.rows()?);
        contents.messages.push((Kind::Batch, *block));
    }
    Ok(contents)
}

/// Finds the messages of a stream by going from one to the next.
fn of_stream(bytes: &Bytes) -> Result<Contents, ArrowError> {
    let first = Message::at(bytes, 0)?;
    let message = root_as_message(&first.metadata).map_err(invalid)?;
    let schema = message.header_as_schema().ok_or_else(|| invalid("no schema at its start"))?;
    let mut contents = Contents {
        kind: "Arrow IPC stream",
        schema: Arc::new(try_fb_to_schema(schema)?),
        version: message.version(),
        messages: Vec::new(),
        rows: 0,
    };
    let mut at = first.end(&message)?;
    while at + 4 <= bytes.len() {
        let next = Message::at(bytes, at)?;
        if next.metadata.is_empty() {
            break;
        }
        let message = root_as_message(&next.metadata).map_err(invalid)?;
        let kind = match message.header_type() {
            MessageHeader::DictionaryBatch => Kind::Dictionary,
            MessageHeader::RecordBatch => Kind::Batch,
            _ => return Err(invalid("a message that is neither dictionary nor batch")),
        };
        contents.rows = contents.rows.saturating_add(next.rows()?);
        let prefixed = i32::try_from(next.prefix + next.metadata.len() as u64).map_err(invalid)?;
        contents
            .messages
            .push((kind, Block::new(i64::try_from(at).map_err(invalid)?, prefixed, message.bodyLength())));
        at = next.end(&message)?;
        if at > bytes.len() {
            return Err(invalid("it ends within a batch"));
        }
    }
    Ok(contents)
}

/// The metadata of one message, without what belongs to it.
struct Message {
    at: u64,
    prefix: u64,
    metadata: Vec<u8>,
}

impl Message {
    fn at(bytes: &Bytes, at: u64) -> Result<Self, ArrowError> {
        let word = |at| -> Result<[u8; 4], ArrowError> {
            bytes.exact(at, 4)?.try_into().map_err(|_| invalid("too short"))
        };
        let first = word(at)?;
        let (prefix, length) = if first == CONTINUATION { (8, word(at + 4)?) } else { (4, first) };
        let metadata = bytes.exact(at + prefix, number(i32::from_le_bytes(length))?)?;
        Ok(Self { at, prefix, metadata })
    }

    fn rows(&self) -> Result<u64, ArrowError> {
        let message = root_as_message(&self.metadata).map_err(invalid)?;
        message.header_as_record_batch().map_or(Ok(0), |batch| number(batch.length()))
    }

    fn end(&self, message: &arrow_ipc::Message) -> Result<u64, ArrowError> {
        let body = number(message.bodyLength())?;
        (self.at + self.prefix + self.metadata.len() as u64)
            .checked_add(body)
            .ok_or_else(|| invalid("a batch without end"))
    }
}

/// Reads a message with what belongs to it into aligned memory.
fn load(bytes: &Bytes, block: &Block) -> Result<Buffer, ArrowError> {
    let (offset, metadata, body) =
        (number(block.offset())?, number(block.metaDataLength())?, number(block.bodyLength())?);
    let length = metadata.checked_add(body).ok_or_else(|| invalid("a batch without end"))?;
    if metadata < 8 || offset.checked_add(length).is_none_or(|end| end > bytes.len()) {
        return Err(invalid("a batch beyond its end"));
    }
    let mut buffer = MutableBuffer::from_len_zeroed(usize::try_from(length).map_err(invalid)?);
    std::io::Read::read_exact(&mut bytes.reader(offset), &mut buffer)?;
    Ok(buffer.into())
}

fn number(value: impl TryInto<u64>) -> Result<u64, ArrowError> {
    value.try_into().map_err(|_| invalid("a negative length"))
}

fn invalid(problem: impl std::fmt::Display) -> ArrowError {
    ArrowError::IpcError(problem.to_string())
}
