//! Dates, wall clocks and instants.

use arrow_array::ArrayRef;
use trueup_compare::{Aggregate, Verdict};

use crate::held::{check, held};
use crate::scene::{Scene, dates, stamps, table, texts, whole};

/// Timestamps as unit and ticks of two sources, how many are outside, and the unit the report must name.
type Stamped = (&'static str, &'static [i64], &'static str, &'static [i64], u64, Option<&'static str>);

#[test]
fn counting_needs_no_order_of_day_and_month() {
    let dates = || texts(&["01/02/2024", "1/2/2024", "12/11/2024", "∅"]);
    let table = |dates| table([("k", whole(&[1, 1, 1, 1])), ("d", dates)]);
    for (aggregate, count) in [(Aggregate::Count, 3), (Aggregate::CountDistinct, 2), (Aggregate::Min, 0)] {
        let scene = Scene::new([table(dates()), table(texts(&["∅"; 4]))]).measure(aggregate, "d");
        match scene.run() {
            Ok((_, breaks)) => {
                let values = [count.to_string(), "0".into()].map(|value| Some(Some(value)));
                assert_eq!(breaks[0].cells[0].values, values, "{aggregate:?}");
            }
            Err(error) => assert!(count == 0 && error.contains("day first or month first"), "{error}"),
        }
    }
}

#[test]
fn the_order_of_day_and_month_is_proven_or_declared() {
    let date = dates(&[19_753, 19_754]);
    check(vec![
        held("day first", texts(&["31/01/2024", "01/02/2024"]), date.clone(), "date", &[]),
        held("month first", texts(&["1-31-2024", "2-1-2024"]), date.clone(), "date", &[]),
        held("dots", texts(&["31.1.2024", "1.2.2024"]), date.clone(), "date", &[]),
    ]);
    let ambiguous = || Scene::of([texts(&["01/02/2024", "03/04/2024"]), dates(&[19_754, 19_816])]);
    let error = ambiguous().run().expect_err("an open order");
    assert!(error.contains('v') && error.contains("day") && error.contains("month"), "{error}");
    for (format, outside) in [("%d/%m/%Y", 0), ("%m/%d/%Y", 2)] {
        let mut scene = ambiguous();
        scene.date_formats.insert(0, format);
        let comparison = scene.comparison();
        assert_eq!(comparison.measures[0].outside, outside, "{format}");
    }
    let mut scene = Scene::of([texts(&["01/02/2024", "31/31/2024"]), date]);
    scene.date_formats.insert(0, "%d/%m/%Y");
    let error = scene.run().expect_err("a value that does not fit");
    assert!(error.contains("31/31/2024"), "{error}");
}

#[test]
fn instants_and_wall_clocks_are_two_types() {
    let ten_utc = 1_706_695_200; // 2024-01-31T10:00:00Z
    check(vec![
        held("offsets", texts(&["2024-01-31T10:00:00Z"]), texts(&["2024-01-31 12:00+02:00"]), "instant", &[]),
        held(
            "typed",
            texts(&["2024-01-31T12:00:00+0200"]),
            stamps("s", &[ten_utc], Some("Europe/Berlin")),
            "instant",
            &[],
        ),
        held(
            "other instants",
            texts(&["2024-01-31T10:00:00Z"]),
            texts(&["2024-01-31T10:00:00+02:00"]),
            "instant",
            &["0"],
        ),
        held(
            "wall clocks",
            texts(&["2024-01-31 10:00:00"]),
            stamps("ms", &[ten_utc * 1000], None),
            "timestamp",
            &[],
        ),
        held(
            "afternoon",
            texts(&["2024-01-31 10:00 AM", "2024-01-31 10:00 PM"]),
            stamps("s", &[ten_utc, ten_utc + 43_200], None),
            "timestamp",
            &[],
        ),
        held(
            "a date is its midnight",
            dates(&[19_753, 19_753]),
            stamps("s", &[ten_utc - 36_000, ten_utc], None),
            "timestamp",
            &["1"],
        ),
        held(
            "a date in text too",
            texts(&["2024-01-31"]),
            stamps("s", &[ten_utc - 36_000], None),
            "timestamp",
            &[],
        ),
    ]);
    let naive = || Scene::of([stamps("s", &[ten_utc + 3_600], None), stamps("s", &[ten_utc], Some("UTC"))]);
    let comparison = naive().comparison();
    assert_eq!(
        (comparison.findings.len(), comparison.verdict),
        (1, Verdict::Unmatched),
        "no zone is declared"
    );
    let mut scene = naive();
    scene.timezones.insert(0, "Europe/Berlin");
    assert_eq!(scene.comparison().verdict, Verdict::Matched, "11:00 in Berlin is 10:00 UTC in winter");
    scene = Scene::of([texts(&["2024-07-31 12:00:00"]), texts(&["2024-07-31T10:00:00Z"])]);
    scene.timezones.insert(0, "Europe/Berlin");
    assert_eq!(scene.comparison().verdict, Verdict::Matched, "and 12:00 in summer");
    scene = Scene::of([dates(&[19_753]), texts(&["2024-01-30T23:00:00Z"])]);
    scene.timezones.insert(0, "Europe/Berlin");
    assert_eq!(scene.comparison().verdict, Verdict::Matched, "a date is midnight where its source is");
}

#[test]
fn precision_is_the_coarser_one_and_said() {
    let cases: [Stamped; 5] = [
        ("ms", &[1, 2], "us", &[1_999, 1_999], 1, Some("ms")),
        ("ms", &[-1], "us", &[-1], 0, Some("ms")),
        ("us", &[5], "ns", &[5_999], 0, Some("µs")),
        ("s", &[1], "ns", &[1_999_999_999], 0, Some("s")),
        ("us", &[5], "us", &[6], 1, None),
    ];
    for (left, left_ticks, right, right_ticks, outside, unit) in cases {
        let comparison =
            Scene::of([stamps(left, left_ticks, None), stamps(right, right_ticks, None)]).comparison();
        let column = comparison.columns.iter().find(|column| column.name == "v").expect("the column");
        assert_eq!(comparison.measures[0].outside, outside, "{left} {right}");
        let noted = column.notes.iter().any(|note| note.contains("precision"));
        assert_eq!(noted, unit.is_some(), "{left} {right}: {:?}", column.notes);
        let named = unit.is_none_or(|unit| {
            column.notes.iter().any(|note| note.contains(unit) || note.contains(&unit.replace('µ', "u")))
        });
        assert!(named, "{left} {right}: {:?}", column.notes);
    }
    let text = Scene::of([texts(&["1970-01-01 00:00:00.001999"]), stamps("ms", &[1], None)]).comparison();
    assert_eq!(text.measures[0].outside, 0, "text has nanoseconds");
}

#[test]
fn values_are_shown_as_found() {
    let noon = 1_706_702_400;
    let later = |seconds: i64| (noon + seconds) * 1_000;
    let cases: [(ArrayRef, Option<&'static str>, ArrayRef, [&str; 2]); 6] = [
        (
            stamps("us", &[later(0) * 1_000 + 123_456], None),
            None,
            stamps("ms", &[later(1)], None),
            ["2024-01-31 12:00:00.123456", "2024-01-31 12:00:01"],
        ),
        (
            stamps("ms", &[later(0)], None),
            Some("Europe/Berlin"),
            stamps("ms", &[later(0)], Some("UTC")),
            ["2024-01-31 12:00:00", "2024-01-31 12:00:00Z"],
        ),
        (
            stamps("ms", &[later(0) + 500], Some("Europe/Berlin")),
            None,
            stamps("ms", &[later(0)], Some("-03:30")),
            ["2024-01-31 13:00:00.5+01:00", "2024-01-31 08:30:00-03:30"],
        ),
        (dates(&[19_753]), None, stamps("s", &[noon], None), ["2024-01-31", "2024-01-31 12:00:00"]),
        (
            dates(&[19_753]),
            Some("Asia/Tokyo"),
            texts(&["2024-01-31T10:00+02"]),
            ["2024-01-31", "2024-01-31T10:00+02"],
        ),
        (dates(&[19_753]), None, dates(&[19_754]), ["2024-01-31", "2024-02-01"]),
    ];
    for (left, zone, right, expected) in cases {
        let mut scene = Scene::of([left, right]);
        scene.timezones.extend(zone.map(|zone| (0, zone)));
        let (comparison, breaks) = scene.run().expect("a comparison");
        let without_sink = scene.compare(1, None).expect("a comparison").breaks;
        for breaks in [comparison.breaks, breaks, without_sink] {
            assert_eq!(breaks[0].cells[0].values, expected.map(|text| Some(Some(text.to_owned()))));
        }
    }
}
