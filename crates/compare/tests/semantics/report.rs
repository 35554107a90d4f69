//! What a comparison says.

use crate::scene::{Scene, absolute, decimals, table, texts, whole};

#[test]
fn breaks_say_everything_in_the_order_of_their_keys() {
    let left = table([
        ("k", whole(&[10, 9, 2, -1])),
        ("v", decimals(2, &[1005, 5, 7, 8])),
        ("t", texts(&["a", "b", "c", "d"])),
    ]);
    let right = table([
        ("k", texts(&["3", "2", "10", "9"])),
        ("v", texts(&["1", "0.070", "10.08", "∅"])),
        ("t", texts(&["x", "c", "a", "b"])),
    ]);
    let breaks = Scene::new([left, right]).tolerance("v", absolute("0.01")).breaks();
    let shown = |text: &str| Some(Some(text.to_owned()));
    let found: Vec<_> = breaks
        .iter()
        .map(|found| {
            (found.key[0].clone().expect("a key"), found.present.clone(), found.cells[0].values.clone())
        })
        .collect();
    assert_eq!(
        found,
        [
            ("-1".into(), vec![true, false], vec![shown("0.08"), None]),
            ("3".into(), vec![false, true], vec![None, shown("1")]),
            ("9".into(), vec![true, true], vec![shown("0.05"), Some(None)]),
            ("10".into(), vec![true, true], vec![shown("10.05"), shown("10.08")]),
        ]
    );
    let outside = breaks[3].cells[0].outside.as_ref().expect("outside");
    assert_eq!((outside.pair, outside.difference.as_deref()), ((0, 1), Some("0.03")));
    assert!(breaks[2].cells[0].outside.as_ref().is_some_and(|outside| outside.difference.is_none()));
    assert!(breaks[0].cells.iter().all(|cell| cell.outside.is_none()));
}
