//! What fields the parts of a document have; the parser and the JSON Schema both go by it.

/// An object of the document.
pub(crate) struct Shape {
    pub(crate) fields: &'static [Field],
}

/// A field of an object.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    pub(crate) about: &'static str,
}

/// What a field holds.
pub(crate) enum Kind {
    Text,
    /// A text, or a number that is taken as it is written.
    Numeral,
    /// A text, a number or a truth value.
    Any,
    Flag,
    Whole {
        least: u64,
        most: u64,
    },
    Word(&'static [&'static str]),
    Object(&'static Shape),
    /// Objects told apart by their `type`.
    Tagged(&'static [(&'static str, &'static Shape)]),
    List {
        of: &'static Kind,
        least: u64,
    },
    Map {
        of: &'static Kind,
        least: u64,
    },
    Either(&'static [Kind]),
}

pub(crate) const TEXTS: Kind = Kind::List { of: &Kind::Text, least: 1 };
pub(crate) const TEXT_BY_NAME: Kind = Kind::Map { of: &Kind::Text, least: 1 };

/// A field that has to be there.
pub(crate) const fn required(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field { name, kind, required: true, about }
}

/// A field that may be left out.
pub(crate) const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field { name, kind, required: false, about }
}
