//! Lists, structs and maps are equal only if all that they hold is.

use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::types::Float32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, FixedSizeListArray, Int32Array, LargeListArray, ListArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field};

use crate::held::{check, held};
use crate::scene::{Scene, dates, integers, table, texts, whole};

/// A list per row, of texts; `∅` is NULL.
fn lists(rows: &[&[&str]]) -> ArrayRef {
    let mut builder = ListBuilder::new(StringBuilder::new());
    for row in rows {
        builder.append_value(row.iter().map(|&text| (text != "∅").then_some(text)));
    }
    Arc::new(builder.finish())
}

/// A struct per row, with one field.
fn structs(name: &str, values: ArrayRef) -> ArrayRef {
    let field = Field::new(name, values.data_type().clone(), true);
    Arc::new(StructArray::from(vec![(Arc::new(field), values)]))
}

/// A map of one pair per row.
fn maps(rows: &[(&str, Option<i64>)]) -> ArrayRef {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
    for (key, value) in rows {
        builder.keys().append_value(key);
        builder.values().append_option(*value);
        builder.append(true).expect("as many values as keys");
    }
    Arc::new(builder.finish())
}

fn dictionary(values: ArrayRef) -> ArrayRef {
    let keys: Int32Array = (0..i32::try_from(values.len()).expect("few rows")).collect();
    Arc::new(DictionaryArray::new(keys, values))
}

/// Pairs of columns of which only the last row is the same.
fn unlike() -> Vec<(&'static str, ArrayRef, ArrayRef)> {
    vec![
        ("one text or two", lists(&[&["a", "b"], &["z"]]), lists(&[&["a, b"], &["z"]])),
        ("quotes in text", lists(&[&["a", "b"], &["\"\\"]]), lists(&[&["a\",\"b"], &["\"\\"]])),
        ("empty or NULL", structs("y", texts(&["", "z"])), structs("y", texts(&["∅", "z"]))),
        ("NULL or its name", lists(&[&["null"], &["z"]]), lists(&[&["∅"], &["z"]])),
        ("a NULL or nothing", lists(&[&["∅"], &["∅", "z"]]), lists(&[&[], &["∅", "z"]])),
        (
            "dictionary of lists",
            dictionary(lists(&[&["a", "b"], &["z"]])),
            dictionary(lists(&[&["a, b"], &["z"]])),
        ),
        (
            "a list in a struct",
            structs("y", lists(&[&["∅"], &["z"]])),
            structs("y", dictionary(lists(&[&[""], &["z"]]))),
        ),
        ("maps", maps(&[("a", None), ("b", Some(1))]), maps(&[("a", Some(0)), ("b", Some(1))])),
    ]
}

#[test]
fn nested_values_differ_where_their_parts_do() {
    check(unlike().into_iter().map(|(what, left, right)| held(what, left, right, "text", &["0"])).collect());
}

#[test]
fn nested_keys_differ_where_their_parts_do() {
    for (what, left, right) in unlike() {
        let keyed = |keys: ArrayRef| table([("k", keys), ("v", whole(&[1, 1]))]);
        let comparison = Scene::new([keyed(left), keyed(right)]).comparison();
        let counts = (comparison.matched_groups, comparison.unmatched_by_source);
        assert_eq!(counts, (1, vec![1, 1]), "{what}");
    }
}

#[test]
fn nested_values_are_equal_whatever_their_layout() {
    let small = lists(&[&["x"], &["a", "∅"], &[]]);
    let list = small.as_any().downcast_ref::<ListArray>().expect("a list");
    let offsets: Vec<i64> = list.value_offsets().iter().map(|offset| i64::from(*offset)).collect();
    let field = Arc::new(Field::new("other", DataType::Utf8, true));
    let large: ArrayRef =
        Arc::new(LargeListArray::new(field, OffsetBuffer::new(offsets.into()), list.values().clone(), None));
    let pairs: [Option<Vec<Option<f32>>>; 2] =
        [Some(vec![Some(1.5), None]), Some(vec![Some(2.0), Some(0.1)])];
    let fixed: ArrayRef =
        Arc::new(FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(pairs.clone(), 2));
    let free: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(pairs));
    check(vec![
        held("large lists", small.clone(), large.clone(), "text", &[]),
        held("slices", small.slice(1, 2), large.slice(1, 2), "text", &[]),
        held("fixed sizes", fixed.slice(1, 1), free.slice(1, 1), "text", &[]),
        held("dictionaries", small.clone(), dictionary(small), "text", &[]),
    ]);
}

#[test]
fn nested_values_are_shown_like_json() {
    let fields = vec![
        (Arc::new(Field::new("n", DataType::Int64, true)), integers(vec![Some(7), None])),
        (Arc::new(Field::new("day", DataType::Date32, true)), dates(&[0, 1])),
        (Arc::new(Field::new("list", lists(&[]).data_type().clone(), true)), lists(&[&["a\n\"", "∅"], &[]])),
        (
            Arc::new(Field::new("map", maps(&[]).data_type().clone(), true)),
            maps(&[("k", Some(1)), ("l", None)]),
        ),
    ];
    let (fields, columns): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    let left: ArrayRef = Arc::new(StructArray::new(fields.clone().into(), columns.clone(), None));
    let no_row = NullBuffer::new_null(2);
    let right: ArrayRef = Arc::new(StructArray::new(fields.into(), columns, Some(no_row)));
    let shown: Vec<_> =
        Scene::of([left, right]).breaks().iter().map(|it| it.cells[0].values.clone()).collect();
    let expected = [
        r#"{"n":7,"day":"1970-01-01","list":["a\n\"",null],"map":[["k",1]]}"#,
        r#"{"n":null,"day":"1970-01-02","list":[],"map":[["l",null]]}"#,
    ];
    assert_eq!(shown, expected.map(|text| vec![Some(Some(text.to_owned())), Some(None)]));
}
