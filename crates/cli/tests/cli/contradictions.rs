//! Options that cannot both be meant are refused, and nothing is written.

use std::fs;

use crate::place::{Place, with};

#[test]
fn what_is_read_is_not_written_over() {
    let place = Place::with_ledger_and_bank();
    fs::create_dir_all(place.path().join("parts/deep")).unwrap();
    fs::copy(place.path().join("bank.csv"), place.path().join("parts/deep/1.csv")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("ledger.csv", place.path().join("link.csv")).unwrap();
    #[cfg(not(unix))]
    fs::hard_link(place.path().join("ledger.csv"), place.path().join("link.csv")).unwrap();
    let before = fs::read(place.path().join("ledger.csv")).unwrap();

    let mut cases = vec![
        ("bank.csv", vec!["--breaks", "ledger.csv"]),
        ("bank.csv", vec!["--output", "./parts/../bank.csv"]),
        ("parts", vec!["--breaks", "parts/deep/1.csv"]),
        ("parts", vec!["--breaks", "parts/new.csv"]),
        ("parts/*/*.csv", vec!["--output", "parts/deep/1.csv"]),
        ("par*", vec!["--output", "parts/deep/1.csv"]),
        ("bank.csv", vec!["--breaks", "new.csv", "--output", "./new.csv"]),
    ];
    if cfg!(unix) {
        cases.push(("bank.csv", vec!["--output", "link.csv"]));
    }
    for (other, more) in cases {
        let arguments = [&["ledger=ledger.csv", other, "--key", "txn_id"], &more[..]].concat();
        let shown = place.shown(&arguments);
        assert!(shown.starts_with("exit 2\nerror: --"), "{arguments:?}: {shown}");
        assert!(shown.contains("\nhint: "), "{arguments:?}: {shown}");
        assert_eq!(fs::read(place.path().join("ledger.csv")).unwrap(), before, "{arguments:?}");
    }
    assert!(!place.path().join("new.csv").exists());
}

#[test]
fn contradictions_say_what_to_do() {
    let place = Place::with_ledger_and_bank();
    let cases: [&[&'static str]; 9] = [
        &["--compare", "amount,ccy", "--ignore", "ccy"],
        &["--ignore", "txn_id"],
        &["--tolerance", "txn_id=1"],
        &["--measure", "sum(amount)", "--ignore", "amount"],
        &["--delimiter", "bnak:;"],
        &["--empty", "2:null"],
        &["--rename", "bnak:amount=x"],
        &["--timezone", "bnak:+01:00"],
        &["--timezone", "Europe/Berln"],
    ];
    let shown: Vec<String> = cases
        .iter()
        .map(|more| {
            let text = place.shown(&with(more));
            format!("{}\n{}", more.join(" "), text.strip_prefix("exit 2\n").unwrap_or(&text))
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    --compare amount,ccy --ignore ccy
    error: `ccy` is in --compare and in --ignore
    hint: leave it out of one of them; --compare alone compares nothing else

    --ignore txn_id
    error: `txn_id` is in --key and in --ignore
    hint: leave it out of one of them

    --tolerance txn_id=1
    error: `txn_id` is in --key, so it cannot have a tolerance
    hint: keys belong together when they are equal; leave out the tolerance, or choose another key

    --measure sum(amount) --ignore amount
    error: measure sum(amount) needs `amount`, which is in --ignore
    hint: leave out --ignore: with measures, only their columns are compared

    --delimiter bnak:;
    error: there is no source `bnak`
    hint: did you mean `bank`?

    --empty 2:null
    error: there is no source `2`
    hint: the sources are ledger, bank

    --rename bnak:amount=x
    error: there is no source `bnak`
    hint: did you mean `bank`?

    --timezone bnak:+01:00
    error: there is no source `bnak`
    hint: did you mean `bank`?

    --timezone Europe/Berln
    error: --timezone: time zone `Europe/Berln` is not known; did you mean `Europe/Berlin`?
    "#);
}

#[test]
fn keys_alone_are_compared_with_a_warning() {
    let place = Place::with_ledger_and_bank();
    let warned = place.shown(&with(&["--compare", "txn_id"]));
    assert!(warned.ends_with("\nwarning: only keys are compared\n"), "{warned}");
    assert!(!place.shown(&with(&["--compare", "note"])).contains("warning"));
}

#[test]
fn offsets_are_zones_for_all() {
    let place = Place::new(&[
        ("local.csv", "id,at\n1,2026-03-01 10:00:00\n"),
        ("utc.csv", "id,at\n1,2026-03-01T09:00:00Z\n"),
    ]);
    for (zone, exit) in [("+01:00", "exit 0\n"), ("0:+0100", "exit 0\n"), ("-01:00", "exit 1\n")] {
        let shown = place.shown(&["local.csv", "utc.csv", "--key", "id", "--timezone", zone]);
        assert!(shown.starts_with(exit), "{zone}: {shown}");
    }
}

#[test]
fn a_dash_is_standard_output() {
    let place = Place::with_ledger_and_bank();
    assert_eq!(place.shown(&with(&["--output", "-"])), place.shown(&with(&[])));
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
}
