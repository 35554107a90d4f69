//! `trueup init`: what it writes runs, as it says.

use std::fs;

use crate::place::{Place, shown};
use crate::shared_store::masked;

/// The commands that it says to run next.
fn commands(said: &str) -> Vec<Vec<&str>> {
    let lines = said.lines().filter_map(|line| line.strip_prefix("  trueup "));
    lines.map(|line| line.split(' ').map(|word| word.trim_matches('\'')).collect()).collect()
}

#[test]
fn what_it_writes_runs_as_it_says() {
    for (folder, expected) in [
        (None, ["check job.yaml", "run job.yaml"]),
        (Some("a/b"), ["check a/b/job.yaml", "run a/b/job.yaml"]),
    ] {
        let place = Place::new(&[]);
        let said = shown(place.trueup(&["init"]).args(folder).output().unwrap());
        let commands = commands(&said);
        assert_eq!(commands.iter().map(|words| words.join(" ")).collect::<Vec<_>>(), expected, "{said}");
        let checked = shown(place.trueup(&commands[0]).arg("--connect").output().unwrap());
        assert!(
            checked.starts_with("exit 0\nledger-against-bank: 2 sources, 2 stages, nothing wrong\n"),
            "{checked}"
        );
        let ran = shown(place.trueup(&commands[1]).output().unwrap());
        insta::allow_duplicates! {
            insta::assert_snapshot!(masked(&ran), @r"
            exit 1
            UNMATCHED: 1 of 3 groups match, 2 outside a tolerance

            Sources
              source rows unmatched
              ledger 13 0
              bank 14 0

            Stages
              stage result rows
              by-account UNMATCHED 27
              by-payment UNMATCHED 21

            Measures
              stage measure rule within outside passed
              by-account amount ABSOLUTE 0.01 1 2 no
              by-account entries EXACT 2 1 no
              by-account last_booked DURATION 2d 3 0 yes
              by-payment amount ABSOLUTE 0.01 7 2 no
              by-payment entries EXACT 8 1 no
              by-payment last_booked DURATION 2d 9 0 yes

            run ID1
            `trueup runs breaks ID1 --stage by-payment` shows what differs
            ");
        }
        let hint = ran.lines().last().unwrap().split('`').nth(1).unwrap().strip_prefix("trueup ").unwrap();
        let hint: Vec<&str> = hint.split(' ').chain(["--format", "csv"]).collect();
        insta::allow_duplicates! {
            insta::assert_snapshot!(shown(place.trueup(&hint).output().unwrap()), @r#"
            exit 0
            account,payment,occurrence,status,present_in,column,ledger,bank,difference,tolerance,rule
            1200-current,FEE-0306,1,unmatched,bank,amount,,-12,,0.01,absent from ledger
            1200-current,FEE-0306,1,unmatched,bank,entries,,1,,,absent from ledger
            1200-current,FEE-0306,1,unmatched,bank,last_booked,,2026-03-06,,2d,absent from ledger
            1200-current,INV-2042,1,outside,"ledger, bank",amount,485.7,458.7,-27,0.01,ABSOLUTE 0.01: ledger against bank
            1200-current,PO-0918,1,unmatched,ledger,amount,-1250,,,0.01,absent from bank
            1200-current,PO-0918,1,unmatched,ledger,entries,1,,,,absent from bank
            1200-current,PO-0918,1,unmatched,ledger,last_booked,2026-03-06,,,2d,absent from bank
            1300-client,TR-5502,1,outside,"ledger, bank",amount,-2750,-5500,-2750,0.01,ABSOLUTE 0.01: ledger against bank
            1300-client,TR-5502,1,outside,"ledger, bank",entries,1,2,1,,EXACT: ledger against bank
            "#);
        }
    }
}

#[test]
fn nothing_is_written_over() {
    for taken in ["job.yaml", "ledger.csv", "bank.csv"] {
        let place = Place::new(&[(taken, "mine")]);
        let expected = format!(
            "exit 2\nerror: {taken} is there already, and nothing was written\nhint: name a folder: trueup init DIR\n"
        );
        assert_eq!(shown(place.trueup(&["init"]).output().unwrap()), expected);
        assert_eq!(fs::read_to_string(place.path().join(taken)).unwrap(), "mine");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }
    let place = Place::new(&[("file", "mine")]);
    let said = shown(place.trueup(&["init", "file/x"]).output().unwrap());
    assert!(said.starts_with("exit 2\nerror: cannot write file/x: "), "{said}");
}
