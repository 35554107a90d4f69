//! Random comparisons against the oracle, and against themselves under other threads, batches, orders and memory.

mod agreement;
mod collisions;
mod drilling;
mod oracle;
mod tables;
mod way;

use std::panic::{AssertUnwindSafe, catch_unwind};

use tables::random::Random;
use tables::{Case, case};
use trueup_compare::{Spec, Tuning};
use way::{MEGABYTE, PLAIN, Run, Way, run, run_as, summary};

const WAYS: [Way; 4] = [
    Way { threads: 2, shuffled: true, ..PLAIN },
    Way { threads: 4, largest_batch: 3, ..PLAIN },
    Way { memory: MEGABYTE, largest_batch: 7, ..PLAIN },
    Way { threads: 2, shuffled: true, largest_batch: 20, memory: 8 * MEGABYTE, ..PLAIN },
];

/// Runs the case of a seed; an error says what disagrees.
fn check(seed: u64, rows: usize) -> Result<(), String> {
    let case = case(seed, rows);
    let random = &mut Random::new(!seed);
    let plain = run(&case, &PLAIN, random);
    against_oracle(&case, &plain)?;
    for way in &WAYS {
        let other = run(&case, way, random);
        if other != plain {
            return Err(format!("{way:?} changes the answer: {}", first_difference(&plain, &other)));
        }
    }
    let verify = !case.spec.verify;
    let other = run_as(&Spec { verify, ..case.spec.clone() }, &case, &PLAIN, random);
    if other != plain {
        return Err(format!("verify = {verify} changes the answer: {}", first_difference(&plain, &other)));
    }
    for wide in [false, true] {
        let way = Way { tuning: Tuning { wide, ..PLAIN.tuning }, ..PLAIN };
        let summed_up = summary(&case, &way, random);
        if summed_up.as_ref().ok() != plain.as_ref().ok().map(|(comparison, _)| comparison) {
            return Err(format!("without a sink, wide = {wide}: {summed_up:#?}\nwith one: {plain:#?}"));
        }
    }
    Ok(())
}

/// Holds a run against the oracle.
fn against_oracle(case: &Case, run: &Run) -> Result<(), String> {
    let tables: Vec<Vec<oracle::Row>> = case.sources.iter().map(|sheet| sheet.rows.clone()).collect();
    match (run, oracle::compare(&case.columns, &tables, &case.spec)) {
        (Ok((comparison, breaks)), Ok(answer)) => {
            agreement::identities(comparison, breaks)?;
            agreement::with(&answer, comparison, breaks, case)?;
        }
        (Err(error), Err(oracle::Repeated)) if error.contains("key") || error.contains("duplicate") => {}
        (Err(error), Ok(_)) => return Err(format!("failed: {error}")),
        (Err(error), Err(oracle::Repeated)) => return Err(format!("wrong error for repeated keys: {error}")),
        (Ok(_), Err(oracle::Repeated)) => return Err("repeated keys were accepted".into()),
    }
    Ok(())
}

/// The lines around the first that is not the same.
fn first_difference(one: &Run, other: &Run) -> String {
    let (one, other) = (format!("{one:#?}"), format!("{other:#?}"));
    let same = one.lines().zip(other.lines()).take_while(|(one, other)| one == other).count();
    let around =
        |text: &str| text.lines().skip(same.saturating_sub(25)).take(40).collect::<Vec<_>>().join("\n");
    format!("from\n{}\nto\n{}", around(&one), around(&other))
}

/// What is wrong with a case, even when it is a panic.
fn failure(seed: u64, rows: usize) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(|| check(seed, rows))) {
        Ok(result) => result.err(),
        Err(panic) => Some(format!("panicked: {:?}", panic.downcast_ref::<String>())),
    }
}

/// Halves the rows for as long as the case still fails.
fn smallest(seed: u64, rows: usize, message: String) -> (usize, String) {
    let halves = std::iter::successors(Some(rows / 2), |rows| (*rows > 0).then_some(rows / 2));
    let failures = halves.map_while(|rows| failure(seed, rows).map(|message| (rows, message)));
    failures.last().unwrap_or((rows, message))
}

#[test]
fn random_comparisons_agree_with_the_oracle() {
    let number = |name: &str| std::env::var(name).ok().map(|value| value.parse::<u64>().expect("a number"));
    let seeds = match number("TRUEUP_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("TRUEUP_CASES").unwrap_or(300),
    };
    let mut failed = Vec::new();
    for seed in seeds.clone() {
        if let Some(message) = failure(seed, 40) {
            let (rows, message) = smallest(seed, 40, message);
            eprintln!("seed {seed} with {rows} rows: {message:.3000}");
            if number("TRUEUP_SEED").is_some() {
                eprintln!("{}", case(seed, rows));
            }
            failed.push(seed);
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {} failed: {failed:?}; run one with TRUEUP_SEED",
        failed.len(),
        seeds.count()
    );
}

#[test]
fn inputs_far_above_the_memory_cap_give_the_same_answer() {
    for seed in [2, 3] {
        let mut case = case(seed, 30_000);
        case.spec.duplicates = None;
        let random = &mut Random::new(seed);
        let plain = run(&case, &PLAIN, random);
        let (comparison, breaks) = plain.as_ref().expect("a comparison");
        agreement::identities(comparison, breaks).expect("the identities");
        let capped = Way { threads: 2, shuffled: true, largest_batch: 1_000, memory: MEGABYTE, ..PLAIN };
        let other = run(&case, &capped, random);
        assert!(other == plain, "seed {seed}: {}", first_difference(&plain, &other));
    }
}
