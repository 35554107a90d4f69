//! Lists, structs, maps and unions as text that no two different values share.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericListArray, GenericListViewArray, OffsetSizeTrait, UnionArray};
use arrow_schema::{DataType, FieldRef};

use super::{Misfit, display_one, plain};

/// A nested array, its parts plain all the way down.
pub(super) struct Nested {
    /// Kept for its NULLs.
    array: ArrayRef,
    form: Form,
}

enum Form {
    Null,
    /// Numbers and truth values, which need no quotes.
    Bare,
    Quoted,
    /// Where each row's items begin, and how many they are.
    List(Vec<(usize, usize)>, Box<Nested>),
    Map(Vec<(usize, usize)>, Box<[Nested; 2]>),
    Struct(Vec<(String, Nested)>),
    /// By row, the field that it has and where that is.
    Union(Vec<(usize, usize)>, Vec<(String, Nested)>),
}

impl Nested {
    pub(super) fn new(array: &ArrayRef) -> Result<Self, Misfit> {
        let array = plain(array)?;
        let form = match array.data_type() {
            DataType::Null => Form::Null,
            DataType::Boolean => Form::Bare,
            number if number.is_numeric() => Form::Bare,
            DataType::List(_) => list(array.as_list::<i32>())?,
            DataType::LargeList(_) => list(array.as_list::<i64>())?,
            DataType::ListView(_) => list_view(array.as_list_view::<i32>())?,
            DataType::LargeListView(_) => list_view(array.as_list_view::<i64>())?,
            DataType::FixedSizeList(_, size) => {
                let size = usize::try_from(*size).unwrap_or(0);
                let spans = (0..array.len()).map(|row| (row * size, size)).collect();
                Form::List(spans, Box::new(Self::new(array.as_fixed_size_list().values())?))
            }
            DataType::Map(..) => {
                let map = array.as_map();
                let (start, length, spans) = spans(map.value_offsets());
                let part = |part: &ArrayRef| Self::new(&part.slice(start, length));
                Form::Map(spans, Box::new([part(map.keys())?, part(map.values())?]))
            }
            DataType::Struct(fields) => {
                let parts = fields.iter().zip(array.as_struct().columns());
                let part = |(field, part): (&FieldRef, _)| Ok((name(field), Self::new(part)?));
                Form::Struct(parts.map(part).collect::<Result<_, _>>()?)
            }
            DataType::Union(..) => union(array.as_union())?,
            _ => Form::Quoted,
        };
        Ok(Self { array, form })
    }

    /// Appends the value at a row.
    pub(super) fn write(&self, row: usize, out: &mut String) -> Result<(), Misfit> {
        if self.array.is_null(row) {
            out.push_str("null");
            return Ok(());
        }
        match &self.form {
            Form::Null => out.push_str("null"),
            Form::Bare => out.push_str(&display_one(&self.array, row)?),
            Form::Quoted => match self.array.as_string_view_opt() {
                Some(texts) => quote(texts.value(row), out),
                None => quote(&display_one(&self.array, row)?, out),
            },
            Form::List(spans, items) => sequence(spans[row], out, |item, out| items.write(item, out))?,
            Form::Map(spans, parts) => sequence(spans[row], out, |item, out| {
                let [key, value] = parts.as_ref();
                out.push('[');
                key.write(item, out)?;
                out.push(',');
                value.write(item, out)?;
                out.push(']');
                Ok(())
            })?,
            Form::Struct(fields) => object(fields.iter().map(|field| (field, row)), out)?,
            Form::Union(places, fields) => {
                let (field, row) = places[row];
                object(fields.get(field).map(|field| (field, row)).into_iter(), out)?;
            }
        }
        Ok(())
    }
}

fn name(field: &FieldRef) -> String {
    field.name().clone()
}

/// Where the items begin and how many there are, and the same for each row, counted from there.
fn spans<Offset: OffsetSizeTrait>(offsets: &[Offset]) -> (usize, usize, Vec<(usize, usize)>) {
    let start = offsets.first().map_or(0, |offset| offset.as_usize());
    let end = offsets.last().map_or(0, |offset| offset.as_usize());
    let span = |pair: &[Offset]| (pair[0].as_usize() - start, (pair[1] - pair[0]).as_usize());
    (start, end - start, offsets.windows(2).map(span).collect())
}

fn list<Offset: OffsetSizeTrait>(list: &GenericListArray<Offset>) -> Result<Form, Misfit> {
    // A slice of a list keeps all items, and an item of another row must not be an error in this one.
    let (start, length, spans) = spans(list.value_offsets());
    Ok(Form::List(spans, Box::new(Nested::new(&list.values().slice(start, length))?)))
}

fn list_view<Offset: OffsetSizeTrait>(list: &GenericListViewArray<Offset>) -> Result<Form, Misfit> {
    let spans = list.value_offsets().iter().zip(list.value_sizes());
    let spans = spans.map(|(start, length)| (start.as_usize(), length.as_usize())).collect();
    Ok(Form::List(spans, Box::new(Nested::new(list.values())?)))
}

fn union(union: &UnionArray) -> Result<Form, Misfit> {
    let DataType::Union(fields, _) = union.data_type() else {
        return Ok(Form::Null);
    };
    let at = |id: i8| fields.iter().position(|(own, _)| own == id).unwrap_or(usize::MAX);
    let places = (0..union.len()).map(|row| (at(union.type_id(row)), union.value_offset(row))).collect();
    let parts = fields.iter().map(|(id, field)| Ok((name(field), Nested::new(union.child(id))?)));
    Ok(Form::Union(places, parts.collect::<Result<_, _>>()?))
}

fn sequence(
    (start, length): (usize, usize),
    out: &mut String,
    mut write: impl FnMut(usize, &mut String) -> Result<(), Misfit>,
) -> Result<(), Misfit> {
    out.push('[');
    for item in start..start + length {
        if item > start {
            out.push(',');
        }
        write(item, out)?;
    }
    out.push(']');
    Ok(())
}

fn object<'a>(
    fields: impl Iterator<Item = (&'a (String, Nested), usize)>,
    out: &mut String,
) -> Result<(), Misfit> {
    out.push('{');
    for (place, ((name, value), row)) in fields.enumerate() {
        if place > 0 {
            out.push(',');
        }
        quote(name, out);
        out.push(':');
        value.write(row, out)?;
    }
    out.push('}');
    Ok(())
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing to a string cannot fail.
            _ if character.is_ascii_control() => drop(write!(out, "\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
}
