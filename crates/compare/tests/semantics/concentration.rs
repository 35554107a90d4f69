//! Where breaks concentrate, found the same way however many there are and whoever asks.

use trueup_compare::{Break, BreakHeader, BreakSink, Comparison};

use crate::scene::{Scene, table, texts, whole};

const ROWS: i64 = 24_000;
const LONG: &str = match str::from_utf8(&[b'x'; 257]) {
    Ok(long) => long,
    Err(_) => "",
};

/// Every so-manieth row breaks, and no other row has its `book`, `code`, `desk`, `region` and `story`.
fn scene(every: i64) -> Scene {
    let breaks = |row: &i64| row % every == 0;
    let column = |value: &dyn Fn(i64) -> String| {
        let values: Vec<String> = (0..ROWS).map(value).collect();
        texts(&values.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let either = |broken: &'static str, values: i64| {
        column(&move |row| if breaks(&row) { broken.into() } else { format!("{}", row % values) })
    };
    let side = |shift: i64| {
        let values = (0..ROWS).map(|row| if breaks(&row) { row + shift } else { row });
        table([
            ("k", whole(&(0..ROWS).collect::<Vec<_>>())),
            ("book", either("∅", 1)),
            ("code", either("one too many", 64)),
            ("desk", either("the last that counts", 63)),
            ("region", either("north", 5)),
            ("story", either(LONG, 5)),
            ("v", whole(&values.collect::<Vec<_>>())),
        ])
    };
    Scene::new([side(0), side(1)])
}

/// The same comparison with all breaks told and without, on one thread and several.
fn every_way(scene: &Scene) -> Comparison {
    let plain = scene.compare(1, None).expect("a comparison");
    for threads in [1, 4] {
        let mut told = 0;
        let mut count = |_: &BreakHeader, _: &Break| {
            told += 1;
            Ok(())
        };
        assert_eq!(scene.compare(threads, Some(BreakSink::Each(&mut count))).as_ref(), Ok(&plain));
        assert_eq!(told, plain.rows_unmatched);
        assert_eq!(scene.compare(threads, None).as_ref(), Ok(&plain));
    }
    plain
}

#[test]
fn values_with_far_more_breaks_than_their_share_are_named() {
    // Few breaks are read again; with many, records say more to begin with.
    for every in [200, 20] {
        let comparison = every_way(&scene(every));
        let broken = u64::try_from(2 * ROWS / every).expect("a count");
        assert_eq!(comparison.rows_unmatched * 2, broken);
        let found: Vec<_> = comparison
            .concentration
            .iter()
            .map(|found| (found.column.as_str(), found.value.as_deref(), found.rows, found.broken_rows))
            .collect();
        let expected = [
            ("book", None, broken, broken),
            ("desk", Some("the last that counts"), broken, broken),
            ("region", Some("north"), broken, broken),
        ];
        assert_eq!(found, expected, "`code` has more than 64 values, `story` a long one");
        let all = &comparison.concentration[0];
        assert_eq!((all.all_rows, all.all_broken_rows), (48_000, broken));
    }
}

#[test]
fn no_value_stands_out_when_half_of_all_rows_break() {
    let comparison = every_way(&scene(2));
    assert_eq!(comparison.rows_unmatched, 12_000);
    assert_eq!(comparison.concentration, []);
}

#[test]
fn fewer_than_ten_broken_rows_say_nothing() {
    let broken = |every| every_way(&scene(every)).concentration.len();
    assert_eq!((broken(ROWS / 4), broken(ROWS / 5)), (0, 3), "8 rows and 10");
}
