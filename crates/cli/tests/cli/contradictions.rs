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
    let cases: [&[&'static str]; 11] = [
        &["--compare", "amount,ccy", "--ignore", "ccy"],
        &["--tolerance", "amount=0.1", "--ignore", "amount"],
        &["--ignore", "txn_id"],
        &["--tolerance", "txn_id=1"],
        &["--measure", "sum(amount)", "--ignore", "amount"],
        &["--delimiter", "bnak:;"],
        &["--empty", "2:null"],
        &["--rename", "bnak:amount=x"],
        &["--timezone", "bnak:+01:00"],
        &["--timezone", "Europe/Berln"],
        &["--header", "--no-header=bank"],
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

    --tolerance amount=0.1 --ignore amount
    error: `amount` has a tolerance and is in --ignore
    hint: leave out one of them

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

    --header --no-header=bank
    error: --header and --no-header are both for bank
    hint: leave out one of them, or name the sources that each is for
    "#);
}

#[test]
fn what_is_said_twice_is_refused() {
    let place = Place::with_ledger_and_bank();
    let cases = [
        ("--rename", "bank:note=a", "bank:note=b"),
        ("--rename", "bank:note=a", "1:note=b"),
        ("--timezone", "UTC", "+01:00"),
        ("--timezone", "bank:UTC", "1:UTC"),
        ("--date-format", "note=%d", "note=%m"),
        ("--date-format", "bank:note=%d", "1:note=%m"),
        ("--delimiter", ",", ";"),
        ("--encoding", "bank:latin1", "bank:utf-8"),
    ];
    for (option, first, second) in cases {
        let shown = place.shown(&[&with(&[])[..], &[option, first, option, second]].concat());
        let expected = format!("error: {option} {first} and {option} {second} are about the same\n");
        assert!(shown.contains(&expected), "{shown}");
    }
    let for_one_and_all =
        ["--delimiter", ",", "--delimiter", "bank:,", "--timezone", "bank:UTC", "--timezone", "UTC"];
    assert!(place.shown(&with(&for_one_and_all)).starts_with("exit 1\n"));
}

#[test]
fn a_date_format_for_one_source_beats_one_for_all() {
    let place = Place::new(&[("a.csv", "id,at\n1,01/02/2026\n"), ("b.csv", "id,at\n1,02/01/2026\n")]);
    let formats = ["b:at=%m/%d/%Y", "at=%d/%m/%Y"];
    for [first, second] in [[0, 1], [1, 0]] {
        let shown = place.shown(&[
            "a=a.csv",
            "b=b.csv",
            "--key",
            "id",
            "--date-format",
            formats[first],
            "--date-format",
            formats[second],
        ]);
        assert!(shown.starts_with("exit 0\n"), "{shown}");
    }
}

#[test]
fn tolerances_that_do_not_fit_say_what_does() {
    let file = "id,at,v\n1,2026-03-01 10:00:00,1\n2,2026-03-02 10:00:00,2\n";
    let key = "ref,v\n1,1\n";
    let huge = "id,v\n1,1e20000\n";
    let place = Place::new(&[("a.csv", file), ("b.csv", file), ("key.csv", key), ("huge.csv", huge)]);
    let nines = format!("id,v\n1,{0}\n1,{0}\n", "9".repeat(38));
    fs::write(place.path().join("nines.csv"), nines).unwrap();
    fs::write(place.path().join("twice.csv"), "id,v\n1,1\n1,2\n").unwrap();
    let cases: [(&str, &[&str]); 10] = [
        ("b.csv", &["--tolerance", "at=5%"]),
        ("b.csv", &["--measure", "count(v)", "--tolerance", "count(v)=1d"]),
        ("b.csv", &["--measure", "total=sum(v)", "--tolerance", "sum(v)=1"]),
        ("b.csv", &["--tolerance", "v=1,alow=5"]),
        ("b.csv", &["--tolerance", "v=1,allow=200%"]),
        ("b.csv", &["--tolerance", "v=1e20000"]),
        ("key.csv", &["--rename", "a:id=rfe", "--key", "rfe"]),
        ("huge.csv", &[]),
        ("nines.csv", &["--measure", "sum(v)"]),
        ("twice.csv", &["--duplicates", "error"]),
    ];
    let shown = cases.map(|(other, more)| {
        let key: &[&str] = if more.contains(&"--key") { &[] } else { &["--key", "id"] };
        let text = place.shown(&[&["a=a.csv", &format!("b={other}")], key, more].concat());
        format!("{}\n{}", more.join(" "), text.strip_prefix("exit 2\n").unwrap_or(&text))
    });
    insta::assert_snapshot!(shown.join("\n"), @r#"
    --tolerance at=5%
    error: the tolerance of at does not fit: `at` is compared as timestamp
    hint: a percentage is for numbers; for dates and times write how long, as at=2d

    --measure count(v) --tolerance count(v)=1d
    error: the tolerance of count(v) does not fit: `count(v)` is compared as number
    hint: a duration is for dates and times; for numbers write count(v)=1

    --measure total=sum(v) --tolerance sum(v)=1
    error: the tolerance of `sum(v)` is for no measure: sum(v) is called `total`
    hint: write --tolerance total=1

    --tolerance v=1,alow=5
    error: `alow` is neither a column nor a part of a tolerance
    hint: did you mean allow=5?

    --tolerance v=1,allow=200%
    error: `allow=200%` is more than all groups
    hint: write a share of at most 100%, or a number of groups

    --tolerance v=1e20000
    error: v: the tolerance `1e20000` has an exponent beyond ±10000

    --rename a:id=rfe --key rfe
    error: key column `rfe` is missing in b
    hint: it has `ref`: --rename b:ref=rfe


    error: b: huge.csv, line 2: column `v`: `1e20000` has an exponent beyond ±10,000
    hint: what only looks like a number is text: --text v

    --measure sum(v)
    error: b: sum(v) of id=1 needs more than 38 digits
    hint: a --key of more columns makes smaller groups

    --duplicates error
    error: b: 1 key is repeated, for example id=1
    hint: --duplicates multiset pairs the rows of a key, --measure 'sum(amount)' makes one of them
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
