//! One column across all sources: its kind, how each source's values are read, and how they are encoded.

use arrow_schema::DataType;

use super::Learnt;
use crate::error::Error;
use crate::kind::{Agreement, Kind, Offer, Physical, agree};
use crate::report::Finding;
use crate::spec::{Source, Spec};
use crate::temporal::{Format, Shape, TemporalKind, Zone};
use crate::text::{Assumption, NormaliserSet, Reading};

/// Beyond this many decimals a fixed scale leaves too little room for the rest of a number.
const MOST_FIXED_DECIMALS: u32 = 12;

/// How the values of a column are held while they are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Numbers and times in units of `10^-scale`.
    Fixed { scale: u32 },
    /// Floats, in every source.
    Float,
    /// Any number.
    General,
    /// Text and binary.
    Bytes,
}

/// How the values of one source's column are read.
#[derive(Clone)]
pub(crate) enum How {
    /// By their Arrow type.
    Typed,
    TextNumber,
    TextBoolean,
    /// Text or numbers that stand for truth values.
    DeclaredBoolean,
    TextTemporal(Shape),
    TextFormat(Format),
    /// Text as it is; what it could be read as by itself is still checked, for the report.
    Text(Reading),
    /// Typed values as they are displayed, because the sources' kinds disagree.
    Displayed,
    /// Nothing but NULL.
    Null,
}

/// How one source's column is read.
#[derive(Clone)]
pub(crate) struct Reader {
    /// In the table's schema.
    pub(crate) index: usize,
    pub(crate) how: How,
    /// Whether it is text though its first rows are not plainly so: a few values may be to blame.
    pub(crate) is_watched: bool,
    /// For times that carry no zone, when instants are compared.
    pub(crate) zone: Option<Zone>,
    /// What its text was taken for, when that differs from plain text.
    offered: Kind,
    is_text: bool,
}

/// One column across all sources.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) encoding: Encoding,
    /// Digits of a second that count.
    pub(crate) second_digits: u32,
    pub(crate) normalisers: NormaliserSet,
    pub(crate) readers: Vec<Reader>,
    pub(crate) notes: Vec<String>,
    /// Whether it is text, and takes long to read.
    pub(crate) is_long: bool,
    pub(super) disagreement: Option<Disagreement>,
}

/// That a column is one thing in one source and another in the next, so that it is compared as text.
pub(super) struct Disagreement {
    /// What it is in each source.
    pub(super) kinds: String,
    /// What a person can do about it.
    pub(super) hint: Option<&'static str>,
    /// Whether all sources have text, which has no other type than what its values happen to be.
    pub(super) is_drift: bool,
}

impl Column {
    pub(super) fn plan(
        name: &str,
        indices: Vec<usize>,
        sources: &[Source<'_>],
        spec: &Spec,
        learnt: &Learnt,
    ) -> Result<Self, Error> {
        let declared = if spec.booleans.iter().any(|boolean| boolean == name) {
            Declared::Boolean
        } else if spec.texts.iter().any(|text| text == name) {
            Declared::Text
        } else {
            Declared::Nothing
        };
        let mut offers = Vec::new();
        let mut readers = Vec::new();
        for (number, (source, index)) in sources.iter().zip(indices).enumerate() {
            let data_type = source.table.schema().field(index).data_type().clone();
            let place = (number, name.to_string());
            let reading = learnt.assumptions.get(&place).map(Assumption::reading);
            let (offer, mut reader) = offer(source, name, index, &data_type, reading, declared)?;
            let inferred = matches!(reader.how, How::Text(_)) && declared == Declared::Nothing;
            reader.is_watched = inferred && learnt.watched.contains(&place);
            offers.push(offer);
            readers.push(reader);
        }
        let (kind, agreement) = agree(&offers);
        for (reader, (offer, source)) in readers.iter_mut().zip(offers.iter().zip(sources)) {
            reader.settle(kind, offer);
            if kind == Kind::Instant && needs_zone(reader, offer) {
                reader.zone = zone(source)?;
            }
        }
        let mut notes = Vec::new();
        let second_digits = second_digits(kind, &offers, &mut notes);
        let scale = learnt.scales.get(name).copied().unwrap_or(0);
        let encoding =
            if learnt.general.contains(name) && !matches!(kind, Kind::Text | Kind::Binary | Kind::Null) {
                Encoding::General
            } else {
                encoding(kind, &offers, scale, second_digits)
            };
        let disagreement = (agreement != Agreement::Full).then(|| Disagreement {
            kinds: in_words(&offers, sources),
            hint: disagreement_hint(&offers),
            is_drift: agreement == Agreement::Drift,
        });
        let normalisers = spec.normalisers.get(name).into_iter().flatten().copied().collect();
        let is_long = encoding == Encoding::Bytes && learnt.long.contains(name);
        let name = name.to_owned();
        Ok(Self { name, kind, encoding, second_digits, normalisers, readers, notes, is_long, disagreement })
    }

    /// Notes that the sources' kinds disagree, where that is no finding.
    pub(super) fn note_drift(&mut self, findings: &[Finding]) {
        let is_found = findings.iter().any(|finding| finding.column == self.name);
        if let Some(drift) = self.disagreement.as_ref().filter(|_| !is_found) {
            self.notes.push(format!("{}: compared as text", drift.kinds));
        }
    }

    /// Whether any source has its numbers as text.
    pub(crate) fn reads_numerals(&self) -> bool {
        self.readers.iter().any(|reader| matches!(reader.how, How::TextNumber))
    }

    /// What a source's values are by themselves, if those of another source are something else.
    pub(crate) fn drifted_kind(&self, source: usize) -> Option<Kind> {
        let own = self.readers[source].offered;
        let differs = |reader: &Reader| reader.offered != own && reader.offered != Kind::Null;
        (own != Kind::Null && self.readers.iter().any(differs)).then_some(own)
    }

    /// What a source's text was taken for, if it is text.
    pub(super) fn reading(&self, source: usize) -> Option<&'static str> {
        let reader = &self.readers[source];
        (reader.is_text && !matches!(reader.offered, Kind::Text | Kind::Null)).then(|| reader.offered.name())
    }
}

/// What the user says a column is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Declared {
    Nothing,
    Boolean,
    Text,
}

fn offer(
    source: &Source<'_>,
    name: &str,
    index: usize,
    data_type: &DataType,
    reading: Option<Reading>,
    declared: Declared,
) -> Result<(Offer, Reader), Error> {
    let physical = Physical::of(data_type);
    let (kind, how) = match (physical, source.date_formats.get(name)) {
        (Physical::Text | Physical::Integer, _) if declared == Declared::Boolean => {
            (Kind::Boolean, How::DeclaredBoolean)
        }
        (Physical::Text, _) if declared == Declared::Text => (Kind::Text, How::Text(Reading::Text)),
        (physical, _) if declared == Declared::Text && physical != Physical::Null => {
            (Kind::Text, How::Displayed)
        }
        (Physical::Text, Some(format)) => {
            let format = Format::compile(format).map_err(|error| {
                Error::spec(format!("{}: the date format of `{name}`: {error}", source.name))
            })?;
            (temporal(format.kind()), How::TextFormat(format))
        }
        (_, Some(_)) => {
            let what = format!("{}: `{name}` has a date format but is {data_type}", source.name);
            return Err(Error::spec_hint(what, "a date format is for text columns"));
        }
        (Physical::Text, None) => match reading {
            None | Some(Reading::Text) => (Kind::Text, How::Text(Reading::Text)),
            Some(Reading::Empty) => (Kind::Null, How::Null),
            Some(Reading::Number | Reading::NonFinite) => (Kind::Number, How::TextNumber),
            Some(Reading::Boolean) => (Kind::Boolean, How::TextBoolean),
            Some(Reading::Temporal(shape)) => (temporal(shape.kind), How::TextTemporal(shape)),
        },
        (Physical::Null, None) => (Kind::Null, How::Typed),
        (Physical::Other, None) => (Kind::Text, How::Displayed),
        (physical, None) => (physical.kind(), How::Typed),
    };
    let has_zone = source.timezone.is_some();
    let kind = if kind == Kind::Timestamp && has_zone { Kind::Instant } else { kind };
    let is_text = physical == Physical::Text;
    let reader = Reader { index, how, is_watched: false, zone: None, offered: kind, is_text };
    Ok((Offer { physical, kind, has_zone }, reader))
}

impl Reader {
    /// Falls back to text, or to expecting the other sources' kind, once the kind is known.
    fn settle(&mut self, kind: Kind, offer: &Offer) {
        if kind == Kind::Text && offer.kind != Kind::Null {
            self.how = match &self.how {
                _ if !self.is_text => How::Displayed,
                How::TextNumber => How::Text(Reading::Number),
                How::TextBoolean => How::Text(Reading::Boolean),
                How::TextTemporal(shape) => How::Text(Reading::Temporal(*shape)),
                How::Text(reading) => How::Text(*reading),
                // What was declared stays declared, whatever the values are.
                _ => How::Text(Reading::Text),
            };
        }
    }
}

/// Whether its times carry no zone of their own.
fn needs_zone(reader: &Reader, offer: &Offer) -> bool {
    match (&reader.how, offer.physical) {
        (How::Typed, Physical::Timestamp { zoned, .. }) => !zoned,
        (How::Typed, Physical::Date) => true,
        (How::TextTemporal(shape), _) => shape.kind != TemporalKind::Instant,
        (How::TextFormat(format), _) => format.kind() != TemporalKind::Instant,
        _ => false,
    }
}

fn zone(source: &Source<'_>) -> Result<Option<Zone>, Error> {
    let Some(name) = &source.timezone else {
        return Ok(None);
    };
    let zone = Zone::named(name).map_err(|error| Error::spec(format!("{}: {error}", source.name)))?;
    Ok(Some(zone))
}

fn temporal(kind: TemporalKind) -> Kind {
    match kind {
        TemporalKind::Date => Kind::Date,
        TemporalKind::Timestamp => Kind::Timestamp,
        TemporalKind::Instant => Kind::Instant,
        TemporalKind::Time => Kind::Time,
    }
}

/// The coarsest precision of all sources; a date has as much as anyone.
fn second_digits(kind: Kind, offers: &[Offer], notes: &mut Vec<String>) -> u32 {
    if !kind.is_temporal() || kind == Kind::Date {
        return 0;
    }
    let precisions = || offers.iter().filter_map(|offer| offer.physical.second_digits());
    let (coarsest, finest) = (precisions().min().unwrap_or(0), precisions().max().unwrap_or(0));
    if coarsest < finest {
        let unit = match coarsest {
            0 => "s",
            3 => "ms",
            _ => "µs",
        };
        notes.push(format!("compared at {unit}, the coarser precision"));
    }
    coarsest
}

fn encoding(kind: Kind, offers: &[Offer], text_scale: u32, second_digits: u32) -> Encoding {
    match kind {
        Kind::Text | Kind::Binary | Kind::Null => Encoding::Bytes,
        Kind::Boolean => Encoding::Fixed { scale: 0 },
        Kind::Date | Kind::Timestamp | Kind::Instant | Kind::Time => Encoding::Fixed { scale: second_digits },
        Kind::Number => {
            let any = |wanted: fn(&Physical) -> bool| offers.iter().any(|offer| wanted(&offer.physical));
            let has_float = any(|it| *it == Physical::Float);
            let has_exact = any(|it| matches!(it, Physical::Integer | Physical::Decimal { .. }));
            let has_text = any(|it| *it == Physical::Text);
            if has_float {
                return if has_exact || has_text { Encoding::General } else { Encoding::Float };
            }
            let scale = offers.iter().map(|offer| match offer.physical {
                Physical::Decimal { scale } => u32::try_from(scale).unwrap_or(0),
                _ => 0,
            });
            let scale = scale.chain([text_scale]).max().unwrap_or(0);
            if scale > MOST_FIXED_DECIMALS { Encoding::General } else { Encoding::Fixed { scale } }
        }
    }
}

fn in_words(offers: &[Offer], sources: &[Source<'_>]) -> String {
    let parts: Vec<String> = (offers.iter().zip(sources))
        .filter(|(offer, _)| offer.kind != Kind::Null)
        .map(|(offer, source)| format!("{} in {}", offer.kind.name(), source.name))
        .collect();
    parts.join(", ")
}

fn disagreement_hint(offers: &[Offer]) -> Option<&'static str> {
    let has = |kind: Kind| offers.iter().any(|offer| offer.kind == kind);
    let lacks_zone = has(Kind::Instant) && (has(Kind::Timestamp) || has(Kind::Date));
    lacks_zone.then_some("declare a time zone for the times that carry none")
}
