//! Turns the command line into what `extract` and `compare` take.

mod contradictions;

use std::collections::BTreeMap;
use std::path::Path;

use trueup_compare::{Aggregate, Duplicates, LeftOut, Measure, Normaliser, Spec, near_miss};
use trueup_extract::Empty;
use trueup_reconcile::Declared;

use crate::arguments::{Diff, DuplicatePolicy};
use crate::failure::Failure;
use crate::source_names::{Once, SourceNames};
use crate::tolerance;

/// How each source is read.
pub(crate) fn read_options(
    options: &Diff,
    sources: &SourceNames,
    temp_dir: &Path,
) -> Result<Vec<trueup_extract::Options>, Failure> {
    let formats = sources.assign("--input-format", &options.input_format, |text| {
        text.parse().map_err(|error: trueup_extract::UnknownFormat| Failure::usage(error.to_string()))
    })?;
    let delimiters =
        sources.assign("--delimiter", &options.delimiter, |text| one_byte("--delimiter", text))?;
    let quotes = sources.assign("--quote", &options.quote, |text| one_byte("--quote", text))?;
    let encodings = sources.assign("--encoding", &options.encoding, |text| Ok(text.to_owned()))?;
    let sheets = sources.assign("--sheet", &options.sheet, |text| Ok(text.to_owned()))?;
    let empties = sources.assign("--empty", &options.empty, parse_empty)?;
    let headers = headers(options, sources)?;
    Ok((0..sources.count())
        .map(|source| trueup_extract::Options {
            format: formats[source],
            delimiter: delimiters[source],
            quote: quotes[source],
            header: headers[source],
            encoding: encodings[source].clone(),
            sheet: sheets[source].clone(),
            empty: empties[source].unwrap_or_default(),
            ..trueup_extract::Options::new(temp_dir)
        })
        .collect())
}

fn one_byte(option: &str, text: &str) -> Result<u8, Failure> {
    match text.as_bytes() {
        &[byte] if byte.is_ascii() => Ok(byte),
        b"tab" | b"\\t" => Ok(b'\t'),
        b"comma" => Ok(b','),
        b"semicolon" => Ok(b';'),
        _ => Err(Failure::usage_hint(
            format!("{option} {text}: this is not one ASCII character"),
            format!("write it in quotes, as {option} ';', or tab"),
        )),
    }
}

fn parse_empty(text: &str) -> Result<Empty, Failure> {
    match text {
        "quoted" => Ok(Empty::Quoted),
        "null" => Ok(Empty::Null),
        "text" => Ok(Empty::Text),
        other => Err(Failure::usage_hint(
            format!("--empty {other}: an empty field cannot mean that"),
            "write quoted, null or text",
        )),
    }
}

/// Whether each source has a header, where that is said.
fn headers(options: &Diff, sources: &SourceNames) -> Result<Vec<Option<bool>>, Failure> {
    let with = listed(&options.header, sources)?;
    let without = listed(&options.no_header, sources)?;
    (sources.all().iter().zip(with.into_iter().zip(without)))
        .map(|(name, said)| match said {
            (false, false) => Ok(None),
            (with, without) if with != without => Ok(Some(with)),
            _ => Err(Failure::usage_hint(
                format!("--header and --no-header are both for {name}"),
                "leave out one of them, or name the sources that each is for",
            )),
        })
        .collect()
}

/// Which sources an option of the form `[=SRC,…]` is for; without any it is for all.
fn listed(given: &[String], sources: &SourceNames) -> Result<Vec<bool>, Failure> {
    let mut listed = vec![false; sources.count()];
    for text in given {
        if text.is_empty() {
            listed.fill(true);
            continue;
        }
        for source in text.split(',') {
            listed[sources.find(source.trim())?] = true;
        }
    }
    Ok(listed)
}

/// What is declared for each source.
pub(crate) fn declared(
    options: &Diff,
    sources: &SourceNames,
    columns: &[Vec<String>],
) -> Result<Vec<Declared>, Failure> {
    let mut declared = vec![Declared::default(); sources.count()];
    let renames: Vec<String> = options.rename.iter().flat_map(|text| tolerance::assignments(text)).collect();
    let mut once = Once::default();
    for text in &renames {
        let parts = text.split_once(':').and_then(|(source, rest)| Some((source, rest.split_once('=')?)));
        let Some((source, (from, to))) = parts else {
            return Err(Failure::usage_hint(
                format!("--rename {text}: this is no renaming"),
                format!(
                    "write the source, the column and its new name: --rename {}:old=new",
                    sources.all()[0]
                ),
            ));
        };
        let source = sources.find(source)?;
        once.take("--rename", (source, from), text)?;
        declared[source].renames.insert(from.to_owned(), to.to_owned());
    }
    for (source, zone) in sources.assign_zones(&options.timezone)?.into_iter().enumerate() {
        declared[source].timezone = zone;
    }
    let mut formats = date_formats(&options.date_format, sources)?;
    // One for a source beats one for all.
    formats.sort_by_key(|format| format.source.is_some());
    for format in formats {
        declare_format(&format, sources, columns, &mut declared)?;
    }
    Ok(declared)
}

/// How the dates of a column are written, in one source or in all.
struct DateFormat<'a> {
    source: Option<usize>,
    column: &'a str,
    format: &'a str,
}

fn date_formats<'a>(given: &'a [String], sources: &SourceNames) -> Result<Vec<DateFormat<'a>>, Failure> {
    let mut once = Once::default();
    let mut formats = Vec::new();
    for text in given {
        let (source, rest) = sources.scoped(text);
        let Some((column, format)) = rest.split_once('=') else {
            return Err(Failure::usage_hint(
                format!("--date-format {text}: this names no column and format"),
                "write it as booked=%d/%m/%Y, for one source as bank:booked=%d/%m/%Y",
            ));
        };
        once.take("--date-format", (source, column), text)?;
        formats.push(DateFormat { source, column, format });
    }
    Ok(formats)
}

fn declare_format(
    &DateFormat { source, column, format }: &DateFormat<'_>,
    sources: &SourceNames,
    columns: &[Vec<String>],
    declared: &mut [Declared],
) -> Result<(), Failure> {
    let wanted = |number: &usize| source.is_none_or(|source| source == *number);
    let mut found = false;
    for number in (0..sources.count()).filter(wanted) {
        if has_column(&columns[number], &declared[number].renames, column) {
            declared[number].date_formats.insert(column.to_owned(), format.to_owned());
            found = true;
        }
    }
    if found {
        return Ok(());
    }
    // `bnak:booked=…` looks like a column; whoever wrote it meant a source.
    if let (None, Some((source, _))) = (source, column.split_once(':')) {
        sources.find(source)?;
    }
    let place = source.map_or("any source", |source| &sources.all()[source]);
    let known: Vec<String> = columns.iter().flatten().cloned().collect();
    Err(no_column(column, place, &known))
}

fn has_column(columns: &[String], renames: &BTreeMap<String, String>, name: &str) -> bool {
    columns.iter().any(|column| renames.get(column).unwrap_or(column) == name)
}

fn no_column(column: &str, place: &str, known: &[String]) -> Failure {
    let hint = match near_miss(column, known.iter().map(String::as_str)) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("there are {}", first_names(known)),
    };
    Failure::usage_hint(format!("there is no column `{column}` in {place}"), hint)
}

fn first_names(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(10).map(String::as_str).collect();
    let more = if names.len() > shown.len() { ", …" } else { "" };
    shown.join(", ") + more
}

/// What to compare, and what counts as equal.
pub(crate) fn spec(options: &Diff, sources: &SourceNames, columns: &[String]) -> Result<Spec, Failure> {
    let measures = measures(&options.measure)?;
    let is_known =
        |name: &str| columns.iter().any(|it| it == name) || measures.iter().any(|it| it.name == name);
    let tolerances = tolerance::parse(&options.tolerance, sources, is_known)?;
    let spec = Spec {
        key: names(&options.key, columns),
        measures,
        compare: names(&options.compare, columns),
        ignore: names(&options.ignore, columns),
        tolerances,
        normalisers: normalisers(&options.normalise)?,
        booleans: names(&options.boolean, columns),
        texts: names(&options.text, columns),
        duplicates: options.duplicates.map(|policy| match policy {
            DuplicatePolicy::Aggregate => Duplicates::Aggregate,
            DuplicatePolicy::Multiset => Duplicates::Multiset,
            DuplicatePolicy::Error => Duplicates::Error,
        }),
        reference: options.reference.as_deref().map(|source| sources.find(source)).transpose()?,
        verify: options.verify,
        left_out: LeftOut::default(),
        notes: Vec::new(),
        limit: options.limit,
    };
    contradictions::check(&spec, columns)?;
    Ok(spec)
}

/// Splits lists at commas, unless the whole is the name of a column.
fn names(given: &[String], columns: &[String]) -> Vec<String> {
    (given.iter())
        .flat_map(|text| {
            if columns.contains(text) {
                return vec![text.clone()];
            }
            text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
        })
        .collect()
}

fn measures(given: &[String]) -> Result<Vec<Measure>, Failure> {
    let texts = given.iter().flat_map(|text| text.split_inclusive(')'));
    texts
        .map(|text| text.trim_start_matches(',').trim())
        .filter(|text| !text.is_empty())
        .map(measure)
        .collect()
}

fn measure(text: &str) -> Result<Measure, Failure> {
    let refused = || {
        Failure::usage_hint(
            format!("`{text}` is no measure"),
            "write sum(amount), count(*), or total=sum(amount); there are sum, count, count_distinct, min, max, avg and value",
        )
    };
    let (call, column) = text.strip_suffix(')').and_then(|text| text.split_once('(')).ok_or_else(refused)?;
    let (name, aggregate) =
        call.rsplit_once('=').map_or((text, call), |(name, aggregate)| (name.trim(), aggregate));
    let aggregate = match aggregate.trim() {
        "sum" => Aggregate::Sum,
        "count" => Aggregate::Count,
        "count_distinct" => Aggregate::CountDistinct,
        "min" => Aggregate::Min,
        "max" => Aggregate::Max,
        "avg" => Aggregate::Avg,
        "value" => Aggregate::Value,
        _ => return Err(refused()),
    };
    Ok(Measure { name: name.to_owned(), aggregate, column: column.trim().to_owned() })
}

fn normalisers(given: &[String]) -> Result<BTreeMap<String, Vec<Normaliser>>, Failure> {
    let mut normalisers: BTreeMap<String, Vec<Normaliser>> = BTreeMap::new();
    for text in given {
        let Some((column, how)) = text.rsplit_once('=') else {
            return Err(Failure::usage_hint(
                format!("--normalise {text}: this names no column"),
                format!("write it as {text}=trim,casefold"),
            ));
        };
        for word in how.split(',') {
            let normaliser = match word.trim() {
                "trim" => Normaliser::Trim,
                "collapse_space" => Normaliser::CollapseSpace,
                "casefold" => Normaliser::Casefold,
                "nfc" => Normaliser::Nfc,
                other => {
                    return Err(Failure::usage_hint(
                        format!("there is no normaliser `{other}`"),
                        "there are trim, collapse_space, casefold and nfc",
                    ));
                }
            };
            normalisers.entry(column.to_owned()).or_default().push(normaliser);
        }
    }
    Ok(normalisers)
}

#[cfg(test)]
mod tests {
    use super::{measures, names, one_byte};

    #[test]
    fn measures_are_named_or_as_written() {
        let given = ["sum(amount),count(*)".to_owned(), "total = count_distinct(a, b)".to_owned()];
        let found = measures(&given).unwrap();
        let shown: Vec<String> =
            found.iter().map(|it| format!("{} {:?} {}", it.name, it.aggregate, it.column)).collect();
        assert_eq!(shown, ["sum(amount) Sum amount", "count(*) Count *", "total CountDistinct a, b"]);
        for wrong in ["amount", "mean(amount)", "sum(amount", "sum"] {
            assert!(measures(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lists_and_names_with_commas() {
        let columns = ["last, first".to_owned(), "id".to_owned()];
        assert_eq!(
            names(&["last, first".to_owned(), "id, x".to_owned()], &columns),
            ["last, first", "id", "x"]
        );
    }

    #[test]
    fn single_characters() {
        assert_eq!(one_byte("--delimiter", "tab").unwrap(), b'\t');
        assert_eq!(one_byte("--delimiter", ";").unwrap(), b';');
        assert!(one_byte("--quote", "ab").is_err());
        assert!(one_byte("--quote", "é").is_err());
    }
}
