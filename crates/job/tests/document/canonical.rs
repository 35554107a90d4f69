//! One job, written in many ways, is one revision.

use trueup_job::Job;

use crate::examples::{examples, job};

#[test]
fn the_document_of_a_job_is_that_job() {
    for text in examples() {
        let first = job(text);
        let written = first.document().to_string();
        assert_eq!(job(&written), first, "{written}");
        assert_eq!(job(&written).document().to_string(), written);
    }
}

const PLAIN: &str = "
name: a
sources: {x: {file: x.csv}, y: {file: '{{ today }}.csv'}}
key: [id]
tolerances: {amount: 0.01, day: 2d}
";

#[test]
fn the_way_it_is_written_does_not_matter() {
    let same = [
        "{\"name\":\"a\",\"key\":[\"id\"],\"tolerances\":{\"day\":\"48h\",\"amount\":\"0.010\"},\"sources\":{\"x\":{\"file\":\"x.csv\"},\"y\":{\"file\":\"{{today}}.csv\"}}}",
        "# a comment\nname: 'a'\nqueue: default\nretries: 0\ndeadline: 60m\nsources:\n  - name: x\n    file: x.csv\n  - {name: y, file: \"{{  today }}.csv\"}\ndimensions:\n- id\nstages: [{name: all, tolerances: [{measure: amount, type: ABSOLUTE, value: 1e-2}, {measure: day, type: DURATION, value: -2d..2d}]}]\n",
        "\u{feff}name: a\r\nkey: &k [id]\r\nsources: {x: {file: x.csv}, y: {file: '{{ today }}.csv'}}\r\ntolerances: {amount: {type: ABSOLUTE, value: 0.01, allow: 0}, day: 2d}\r\n",
    ];
    let expected = job(PLAIN).document();
    for text in same {
        assert_eq!(job(text).document(), expected, "{text}");
    }
}

#[test]
fn what_it_says_does() {
    let changes = [
        ("name: a", "name: b"),
        ("x.csv}, y: {file: '{{ today }}.csv'}", "x.csv}, y: {file: '{{ now }}.csv'}"),
        (
            "{x: {file: x.csv}, y: {file: '{{ today }}.csv'}}",
            "{y: {file: '{{ today }}.csv'}, x: {file: x.csv}}",
        ),
        ("[id]", "[id, day_2]"),
        ("0.01", "0.02"),
        ("2d", "3d"),
    ];
    let base = job(PLAIN).document();
    for (from, to) in changes {
        assert!(PLAIN.contains(from));
        assert_ne!(job(&PLAIN.replace(from, to)).document(), base, "{to}");
    }
}

#[test]
fn connections_of_the_server_are_known_if_they_are_named() {
    let text =
        "name: a\nkey: [id]\nsources:\n  x: {connection: erp, table: t}\n  y: {connection: wms, table: t}\n";
    assert!(Job::parse(text.as_bytes(), None).is_ok());
    assert!(Job::parse(text.as_bytes(), Some(&["erp", "wms"])).is_ok());
    let faults = Job::parse(text.as_bytes(), Some(&["erp", "wsm"])).unwrap_err();
    assert_eq!(
        faults.to_string(),
        "5:19: sources.y.connection: there is no connection \"wms\"; did you mean `wsm`?"
    );
}

#[test]
fn short_rules_are_rules() {
    let table = [
        ("0.010", "ABSOLUTE 0.01"),
        ("0", "ABSOLUTE 0"),
        ("0.50%", "PERCENTAGE 0.5"),
        ("2d", "DURATION -172800s..172800s"),
        ("-1d..+3d", "DURATION -86400s..259200s"),
        ("-1d..0", "DURATION -86400s..0s"),
        ("250ms", "DURATION -0.25s..0.25s"),
    ];
    for (rule, expected) in table {
        let stages =
            &job(&PLAIN.replace("amount: 0.01, day: 2d", &format!("x: {rule}"))).document()["stages"];
        let tolerance = &stages[0]["tolerances"][0];
        let found =
            format!("{} {}", tolerance["type"].as_str().unwrap(), tolerance["value"].as_str().unwrap());
        assert_eq!(found, expected, "{rule}");
    }
}

#[test]
fn json_is_read_as_json() {
    let text = "{\n\t\"name\": \"a\",\n\t\"description\": \"\\ud83d\\ude00 \\/ \\u00e9\",\"key\":[\"id\"],\"sources\":{\"x\":{\"file\":\"x\"},\"y\":{\"file\":\"y\"}}}";
    assert_eq!(job(text).description.as_deref(), Some("😀 / é"));
}
