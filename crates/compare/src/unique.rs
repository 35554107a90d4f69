//! Finds columns that could be a key.

use std::collections::HashSet;

use arrow_cast::display::{ArrayFormatter, FormatOptions};

use crate::error::Error;
use crate::kind::Physical;
use crate::plan::learn::first_batch;
use crate::progress::Progress;
use crate::run::{Found, Run, Tuning};
use crate::spec::{Limits, Source, Spec};

/// The columns that every source has, and whose values are unique and not NULL in each.
///
/// # Errors
/// A source cannot be read.
pub fn unique_keys(
    sources: &[Source<'_>],
    limits: &Limits,
    progress: &Progress,
) -> Result<Vec<Vec<String>>, Error> {
    let names = |source: &Source<'_>| -> Vec<String> {
        let schema = source.table.schema();
        let name = |own: &String| source.renames.get(own).unwrap_or(own).clone();
        schema.fields().iter().map(|field| name(field.name())).collect()
    };
    let all: Vec<Vec<String>> = sources.iter().map(names).collect();
    let Some(first) = all.first() else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for name in first.iter().filter(|name| all.iter().all(|names| names.contains(name))) {
        if repeats_at_once(sources, &all, name)? {
            continue;
        }
        let ignore = all.iter().flatten().filter(|other| *other != name).cloned().collect();
        let spec = Spec { key: vec![name.clone()], ignore, ..Spec::default() };
        let tuning = Tuning::default();
        let unique = match Run::new(sources, &spec, limits, progress, &tuning).compare(None) {
            Ok(Found { comparison, .. }) => {
                comparison.key_report.iter().all(|keys| keys.duplicated_keys == 0 && keys.null_keys == 0)
            }
            // Dates in an unproven order and the like: whatever it is, it is no key to propose.
            Err(Error::Value { .. }) => false,
            Err(error) => return Err(error),
        };
        if unique {
            found.push(vec![name.clone()]);
        }
    }
    Ok(found)
}

/// Whether the first rows show already that a column is no key.
fn repeats_at_once(sources: &[Source<'_>], names: &[Vec<String>], name: &str) -> Result<bool, Error> {
    for (source, names) in sources.iter().zip(names) {
        let Some(index) = names.iter().position(|own| own == name) else {
            return Ok(true);
        };
        let Some(batch) = first_batch(source, &[index])? else {
            continue;
        };
        // Arrow displays different lists and structs alike.
        if Physical::of(batch.column(0).data_type()) == Physical::Other {
            continue;
        }
        let options = FormatOptions::new();
        let Ok(formatter) = ArrayFormatter::try_new(batch.column(0).as_ref(), &options) else {
            return Ok(true);
        };
        let mut seen = HashSet::new();
        if (0..batch.num_rows()).any(|row| !seen.insert(formatter.value(row).to_string())) {
            return Ok(true);
        }
    }
    Ok(false)
}
