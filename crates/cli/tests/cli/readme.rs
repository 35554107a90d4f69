//! The README is true: its commands are run, and its output is what they print.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::place::Place;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

/// A place with the files of the tour.
fn tour() -> Place {
    let place = Place::new(&[]);
    let examples = place.path().join("examples");
    fs::create_dir(&examples).unwrap();
    let entries = fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().path());
    for path in entries.filter(|path| path.is_file()) {
        fs::copy(&path, examples.join(path.file_name().unwrap())).unwrap();
    }
    place
}

/// What is between the fences of a kind.
fn blocks<'a>(markdown: &'a str, kind: &str) -> Vec<&'a str> {
    let pieces: Vec<&str> = markdown.split("```").collect();
    pieces
        .iter()
        .skip(1)
        .step_by(2)
        .filter_map(|block| block.strip_prefix(kind)?.strip_prefix('\n'))
        .collect()
}

/// The arguments after `trueup diff` of every command.
fn commands(markdown: &str) -> Vec<Vec<String>> {
    let script = blocks(markdown, "sh").concat().replace("\\\n", " ");
    script
        .lines()
        .filter_map(|line| {
            line.strip_prefix("trueup diff ").or(line.strip_prefix("cargo run --release -- diff "))
        })
        .map(words)
        .collect()
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (position, piece) in line.split('\'').enumerate() {
        if position % 2 == 1 {
            words.push(piece.to_owned());
        } else {
            words.extend(piece.split_whitespace().map(str::to_owned));
        }
    }
    words
}

fn borrowed(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

#[test]
fn every_command_runs_and_finds_breaks() {
    let commands = commands(&readme());
    assert_eq!(commands.len(), 7, "{commands:?}");
    for command in commands {
        let place = tour();
        let output = place.diff(&borrowed(&command));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {errors}");
        assert_eq!(errors, "", "{command:?}");
        let written = command.iter().filter(|word| ["--breaks", "--output"].contains(&word.as_str())).count();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1 + written, "{command:?}");
    }
}

#[test]
fn the_job_finds_what_the_main_example_does() {
    let (place, readme) = (tour(), readme());
    assert!(readme.contains("\ntrueup check examples/job.yaml\ntrueup run examples/job.yaml\n"));
    assert!(place.trueup(&["check", "examples/job.yaml", "--connect"]).status().unwrap().success());
    let ran = place.trueup(&["run", "examples/job.yaml", "--quiet"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let verdict = blocks(&readme, "text")[0].lines().next().unwrap();
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), format!("{verdict}\n"));
}

#[test]
fn exit_codes_mean_what_it_says() {
    let place = tour();
    let readme = readme();
    let cases = [
        ("| 0 | MATCHED:", "examples/ledger.csv examples/ledger.csv --key txn_id"),
        ("| 1 | UNMATCHED:", "examples/ledger.csv examples/bank.csv --key txn_id"),
        (
            "| 1 | UNMATCHED:",
            "examples/ledger.csv examples/warehouse.csv --key account --compare amount,entry",
        ),
        ("| 2 | error:", "examples/ledger.csv examples/bnak.csv --key txn_id"),
        ("| 2 | error:", "examples/ledger.csv examples/bank.csv --key txn_id --duplicates error"),
    ];
    for (line, arguments) in cases {
        assert!(readme.contains(&format!("\n{line}")), "{line}");
        let shown = place.shown(&borrowed(&words(arguments)));
        let expected = line.replacen("| ", "exit ", 1).replacen(" | ", "\n", 1);
        assert!(shown.starts_with(&expected), "{arguments}: {shown}");
    }
}

#[test]
fn the_main_example_prints_what_is_shown() {
    let (place, readme) = (tour(), readme());
    let commands = commands(&readme);
    assert_eq!(commands[0], commands[2], "the first command of all is that of the output");
    let output = place.diff(&borrowed(&commands[0]));
    assert_eq!(vec![String::from_utf8(output.stdout).unwrap()], blocks(&readme, "text"));

    let mut arguments = borrowed(&commands[0]);
    arguments.extend(["--breaks", "breaks.csv"]);
    place.diff(&arguments);
    let breaks = fs::read_to_string(place.path().join("breaks.csv")).unwrap();
    let found: BTreeSet<&str> = breaks.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    let story = readme.split("Nine breaks are left").nth(1).unwrap().split("\n\n").next().unwrap();
    let told: BTreeSet<&str> = story.split('`').skip(1).step_by(2).collect();
    assert_eq!((told.len(), &told), (9, &found));
}

#[test]
fn the_screenshot_shows_the_main_example() {
    let (place, readme) = (tour(), readme());
    let shown = readme.split("```sh\ntrueup ").nth(2).unwrap().split("\n```").next().unwrap();
    let mut arguments = commands(&readme).swap_remove(0);
    arguments.extend(["--color".to_owned(), "always".to_owned()]);
    let printed = String::from_utf8(place.diff(&borrowed(&arguments)).stdout).unwrap();
    let printed = printed
        .split('\u{1b}')
        .enumerate()
        .map(|(position, piece)| if position == 0 { piece } else { piece.split_once('m').unwrap().1 });
    let expected = format!("$ trueup {shown}\n\n{}", printed.collect::<String>());

    let drawing = fs::read_to_string(root().join("docs/diff.svg")).unwrap();
    let lines: String = (drawing.lines().filter(|line| line.starts_with("<text")))
        .map(|line| line.split('<').filter_map(|tag| Some(tag.split_once('>')?.1)).collect::<String>() + "\n")
        .collect();
    let lines = lines.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    assert!(lines == expected, "docs/diff.svg is out of date: run docs/screenshot\n{lines}{expected}");
}

#[test]
fn every_link_and_script_is_there() {
    let readme = readme();
    let links = readme.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
    for path in links.chain(["test", "bench/compare"]) {
        assert!(root().join(path).exists(), "{path}");
    }
}
