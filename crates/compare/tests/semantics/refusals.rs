//! Values that no plan can make sense of are refused with their place.

use std::sync::Arc;

use arrow_array::{ArrayRef, Date64Array, Decimal256Array};
use arrow_buffer::i256;
use trueup_compare::Duplicates;

use crate::scene::{Scene, table, texts, whole};

/// Enough rows for several parts; all but one of them are fine.
const ROWS: usize = 12_000;
/// The one that is not, from 0.
const BAD: usize = 7_654;

fn column(fine: &str, bad: &str) -> ArrayRef {
    let values: Vec<&str> = (0..ROWS).map(|row| if row == BAD { bad } else { fine }).collect();
    texts(&values)
}

fn refusal(scene: &Scene) -> String {
    scene.compare(1, None).expect_err("a value that cannot be read")
}

#[test]
fn a_value_that_cannot_be_read_is_named_with_its_place() {
    let digits = "1".repeat(100);
    let mut cases = vec![(
        "too many digits",
        Scene::of([column("1.5", "1.5"), column("1.5", &digits)]),
        format!("source_1: row 7655: column `v`: `{}…` has more digits than can be compared", &digits[..60]),
    )];
    cases.push((
        "too large an exponent",
        Scene::of([column("1.5", "1.5"), column("1.5", "1e20000")]),
        "source_1: row 7655: column `v`: `1e20000` has an exponent beyond ±10,000".into(),
    ));
    let mut scene = Scene::of([column("31/12/2024", "31/12/2024"), column("31/12/2024", "2024-12-31")]);
    scene.date_formats.extend([(0, "%d/%m/%Y"), (1, "%d/%m/%Y")]);
    cases.push((
        "a declared format",
        scene,
        "source_1: row 7655: column `v`: `2024-12-31` does not fit the declared date format".into(),
    ));
    let mut scene = Scene::of([column("yes", "maybe"), column("1", "1")]);
    scene.spec.booleans.push("v".into());
    cases.push((
        "a declared boolean",
        scene,
        "source_0: row 7655: column `v`: `maybe` is no truth value".into(),
    ));
    let mut scene = Scene::of([column("yes", "yes"), whole(&[1, 0, 2, 3])]);
    scene.spec.booleans.push("v".into());
    cases.push((
        "a declared boolean that is a number",
        scene,
        "source_1: row 3: column `v`: `2` is no truth value".into(),
    ));
    let days: ArrayRef = Arc::new(Date64Array::from(vec![Some(86_400_000), None, Some(86_400_001)]));
    cases.push((
        "a date with a time",
        Scene::of([days.clone(), days]),
        "source_0: row 3: column `v`: `1970-01-02T00:00:00.001` is a date with a time of day".into(),
    ));
    let wide = Decimal256Array::from(vec![i256::ONE, i256::MAX]).with_precision_and_scale(76, 0);
    let wide: ArrayRef = Arc::new(wide.expect("a decimal type"));
    cases.push((
        "a wide decimal",
        Scene::of([wide.clone(), wide]),
        format!(
            "source_0: row 2: column `v`: `{}…` has more digits than can be compared",
            &i256::MAX.to_string()[..60]
        ),
    ));
    let dates = ["∅", "01/02/2024", "12/11/2024"];
    cases.push((
        "dates in an unknown order",
        Scene::of([texts(&["2024-02-01", "∅", "∅"]), texts(&dates)]),
        "source_1: row 2: column `v`: `01/02/2024` may be day first or month first: no value of the column is above 12"
            .into(),
    ));
    for (what, scene, expected) in cases {
        assert_eq!(refusal(&scene), expected, "{what}");
    }
}

#[test]
fn repeated_keys_are_counted_in_words() {
    for (keys, expected) in [(vec![1, 1, 2], "1 key is repeated"), (vec![1, 1, 2, 2], "2 keys are repeated")]
    {
        let mut scene = Scene::new([whole(&keys), whole(&[1])].map(|keys| table([("k", keys)])));
        scene.spec.duplicates = Some(Duplicates::Error);
        let error = refusal(&scene);
        assert!(error.contains(expected), "{error}");
    }
}
