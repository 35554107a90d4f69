//! Hashes choose where a row goes and, with enough bits, which rows are equal; neither is left to chance.

use trueup_compare::{Spec, Tuning};

use crate::against_oracle;
use crate::tables::case;
use crate::tables::random::Random;
use crate::way::{PLAIN, Way, run, run_as};

#[test]
fn partitions_and_buckets_of_one_bit_change_nothing() {
    for seed in 0..100 {
        let case = case(seed, 40);
        let random = &mut Random::new(seed);
        let plain = run(&case, &PLAIN, random);
        for bits in [0, 1] {
            let tuning = Tuning { partition_bits: Some(bits), bucket_bits: bits, ..PLAIN.tuning };
            let few = run(&case, &Way { tuning, threads: 2, ..PLAIN }, random);
            assert!(few == plain, "seed {seed}: {bits} bits: {few:#?}, expected {plain:#?}");
        }
    }
}

#[test]
fn verifying_catches_what_a_weak_fingerprint_misses() {
    let (mut fooled, mut wrong) = (0, Vec::new());
    for seed in 0..100 {
        let case = case(seed, 40);
        let random = &mut Random::new(seed);
        let weak = Way { tuning: Tuning { fingerprint_bits: 4, ..PLAIN.tuning }, threads: 2, ..PLAIN };
        let verified = run_as(&Spec { verify: true, ..case.spec.clone() }, &case, &weak, random);
        wrong.extend(against_oracle(&case, &verified).err().map(|wrong| format!("seed {seed}: {wrong}")));
        let trusted = run_as(&Spec { verify: false, ..case.spec.clone() }, &case, &weak, random);
        fooled += u32::from(against_oracle(&case, &trusted).is_err());
    }
    assert!(fooled > 20, "4 bits are too few to tell keys apart, yet only {fooled} of 100 answers are wrong");
    assert!(wrong.is_empty(), "{} verified answers are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
