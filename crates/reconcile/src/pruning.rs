//! Two tables of databases, of which only those ranges of the key are read whose checksums differ.

use std::collections::BTreeMap;
use std::path::Path;

use trueup_compare::{Duplicates, LeftOut, Number, Rule, Spec};
use trueup_extract::{Checksum, Pair, Pruned, Side, SideError};

use crate::input::{Input, OpenError};
use crate::plan::Plan;
use crate::reading::{Reading, Unopened};

/// A source that cannot be opened, and its number.
pub(crate) struct Unpruned {
    pub(crate) source: usize,
    pub(crate) error: Unopened,
}

/// Says why checksums do not tell what a job asks for, if so.
pub(crate) fn check(plan: &Plan) -> Result<(), &'static str> {
    let ([left, right], [stage]) = (plan.sources.as_slice(), plan.stages.as_slice()) else {
        return Err("checksums are for two sources and one stage");
    };
    let spec = &stage.spec;
    if !spec.measures.is_empty() || spec.duplicates.is_some_and(|it| it != Duplicates::Multiset) {
        return Err("checksums are for rows that are paired");
    }
    let (one, other) = (&left.declared, &right.declared);
    if one.timezone != other.timezone || !one.date_formats.is_empty() || !other.date_formats.is_empty() {
        return Err("the databases know nothing of `date_formats`, and of one `timezone` only");
    }
    if left.wishes.only_truths().is_none() || right.wishes.only_truths().is_none() {
        return Err(
            "a `filter`, or a cast to another type than boolean, may look at what the databases do not",
        );
    }
    if sides(left, right, Path::new(""), &|| false).is_none() {
        return Err("only PostgreSQL, MySQL and MariaDB hash rows, of queries without values");
    }
    Ok(())
}

/// What is to be noted where everything is read.
pub(crate) fn note(why: &str) -> String {
    format!("every row was read, not only where checksums differ: {why}")
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

/// Reads what may differ, and notes in the specification how much does not; nothing, of what [`check`] refuses.
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
    let sources = [left, right];
    let unopened = |SideError { side, error }| Unpruned {
        source: side,
        error: OpenError { source_name: sources[side].name.clone(), error }.into(),
    };
    let mut checksum = Checksum::open(&sides).map_err(unopened)?;
    let columns = [0, 1].map(|side| renamed(&checksum.columns(side), &sources[side].declared.renames));
    let truths = sources.map(|source| source.wishes.only_truths().unwrap_or_default());
    let pairs = pairs(spec, &columns, &truths);
    let pruned = match &pairs {
        Some(pairs) => checksum.read(&pairs.iter().map(|(_, pair)| *pair).collect::<Vec<_>>()),
        None => checksum.read_all(),
    };
    let pruned = pruned.map_err(unopened)?;
    spec.notes.extend(pruned.whole.as_deref().map(note));
    let pairs = pairs.unwrap_or_default();
    spec.left_out = left_out(&pruned, &pairs);
    spec.texts.extend(pruned.texts.iter().map(|at| pairs[*at].0.clone()));
    let inputs = sources.into_iter().zip(pruned.tables).enumerate().map(|(at, (source, table))| {
        source.shaped(Ok(table), true, is_stopped).map_err(|error| Unpruned { source: at, error })
    });
    inputs.collect::<Result<Vec<_>, _>>().map(Some)
}

/// What was not read, with the totals of all columns whose database adds them up to a number that we have.
fn left_out(pruned: &Pruned, pairs: &[(String, Pair)]) -> LeftOut {
    let total = |(at, parts): &(usize, Vec<String>)| {
        let parts = parts.iter().map(|part| part.parse::<Number>()).collect::<Result<_, _>>();
        Some((pairs[*at].0.clone(), parts.ok()?))
    };
    LeftOut { rows: pruned.left_out, totals: pruned.totals.iter().filter_map(total).collect() }
}

/// The columns by their new names.
fn renamed(columns: &[&str], renames: &BTreeMap<String, String>) -> Vec<String> {
    let renamed = |column: &&str| renames.get(*column).map_or(*column, String::as_str).to_owned();
    columns.iter().map(renamed).collect()
}

/// The columns that are compared, by name; none if the comparison will say what is wrong with them.
fn pairs(spec: &Spec, columns: &[Vec<String>; 2], truths: &[Vec<&str>; 2]) -> Option<Vec<(String, Pair)>> {
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
        let is_truth = [0, 1].map(|side| truths[side].contains(&name.as_str()));
        let pair = Pair { columns: [at, other], is_key, may_be_text, is_truth };
        (is_key || is_compared).then(|| (name.clone(), pair))
    };
    Some(left.iter().enumerate().filter_map(pair).collect())
}
