//! Two tables of databases, of which only those ranges of the key are read whose checksums differ.

use std::collections::BTreeMap;
use std::path::Path;

use trueup_compare::{Duplicates, Rule, Spec};
use trueup_extract::{Checksum, Pair, Side, SideError};

use crate::input::{Input, OpenError};
use crate::plan::Plan;
use crate::reading::Reading;

/// A source that cannot be opened, and its number.
pub(crate) struct Unpruned {
    pub(crate) source: usize,
    pub(crate) error: OpenError,
}

/// Whether checksums tell what a job asks for.
pub(crate) fn is_for(plan: &Plan) -> bool {
    let ([left, right], [stage]) = (plan.sources.as_slice(), plan.stages.as_slice()) else { return false };
    let spec = &stage.spec;
    let is_by_rows = spec.measures.is_empty() && spec.duplicates.is_none_or(|it| it == Duplicates::Multiset);
    let (one, other) = (&left.declared, &right.declared);
    let are_read_alike =
        one.timezone == other.timezone && one.date_formats.is_empty() && other.date_formats.is_empty();
    is_by_rows && are_read_alike && sides(left, right, Path::new(""), &|| false).is_some()
}

fn sides<'a>(
    left: &'a Reading,
    right: &'a Reading,
    temp_dir: &'a Path,
    is_stopped: &'a (dyn Fn() -> bool + Sync),
) -> Option<[Side<'a>; 2]> {
    let side = |source: &'a Reading| {
        let (database, query) = source.origin.database(temp_dir, is_stopped)?;
        Some(Side { database, query })
    };
    Some([side(left)?, side(right)?]).filter(Checksum::is_for)
}

/// Reads what may differ, and notes in the specification how much does not; nothing, of what [`is_for`] refuses.
pub(crate) fn read(
    plan: &mut Plan,
    temp_dir: &Path,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Vec<Input>>, Unpruned> {
    let ([left, right], [stage]) = (plan.sources.as_slice(), plan.stages.as_mut_slice()) else {
        return Ok(None);
    };
    let Some(sides) = sides(left, right, temp_dir, is_stopped) else { return Ok(None) };
    let spec = &mut stage.spec;
    let names = [&left.name, &right.name];
    let unopened = |SideError { side, error }| Unpruned {
        source: side,
        error: OpenError { source_name: names[side].clone(), error },
    };
    let checksum = Checksum::open(&sides).map_err(unopened)?;
    let columns = [left, right].map(|source| &source.declared.renames);
    let columns = [0, 1].map(|side| renamed(&checksum.columns(side), columns[side]));
    let pairs = pairs(spec, &columns);
    let pruned = match &pairs {
        Some(pairs) => checksum.read(&pairs.iter().map(|(_, pair)| *pair).collect::<Vec<_>>()),
        None => checksum.read_all(),
    };
    let pruned = pruned.map_err(unopened)?;
    spec.left_out = pruned.left_out;
    let pairs = pairs.unwrap_or_default();
    spec.texts.extend(pruned.texts.iter().map(|at| pairs[*at].0.clone()));
    let inputs = [left, right].into_iter().zip(pruned.tables).enumerate();
    let inputs = inputs.map(|(at, (source, table))| {
        let input = Input::of(&source.name, Ok(table)).map_err(|error| Unpruned { source: at, error })?;
        Ok(Input { declared: source.declared.clone(), ..input })
    });
    inputs.collect::<Result<Vec<_>, _>>().map(Some)
}

/// The columns by their new names.
fn renamed(columns: &[&str], renames: &BTreeMap<String, String>) -> Vec<String> {
    let renamed = |column: &&str| renames.get(*column).map_or(*column, String::as_str).to_owned();
    columns.iter().map(renamed).collect()
}

/// The columns that are compared, by name; none if the comparison will say what is wrong with them.
fn pairs(spec: &Spec, columns: &[Vec<String>; 2]) -> Option<Vec<(String, Pair)>> {
    let [left, right] = columns;
    let repeats = |names: &[String]| (1..names.len()).any(|at| names[..at].contains(&names[at]));
    let is_there = |name: &String| left.contains(name) && right.contains(name);
    if repeats(left) || repeats(right) || !spec.key.iter().chain(&spec.compare).all(is_there) {
        return None;
    }
    let pair = |(at, name): (usize, &String)| {
        let is_key = spec.key.contains(name);
        let is_compared =
            (spec.compare.is_empty() || spec.compare.contains(name)) && !spec.ignore.contains(name);
        let other = right.iter().position(|other| other == name)?;
        let may_be_text = spec.tolerances.get(name).is_none_or(|tolerance| tolerance.rule == Rule::Exact);
        (is_key || is_compared).then(|| (name.clone(), Pair { columns: [at, other], is_key, may_be_text }))
    };
    Some(left.iter().enumerate().filter_map(pair).collect())
}
