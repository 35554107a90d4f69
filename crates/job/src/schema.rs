//! The JSON Schema of the document, for editors.

use serde_json::{Map, Value, json};

use crate::job::JOB;
use crate::shape::{Field, Kind, Shape};

/// Describes the document as JSON Schema (draft 2020-12).
///
/// It says which fields there are and what they hold; what depends on other fields only parsing finds.
pub fn schema() -> Value {
    let mut schema = object(&JOB, None);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("trueup job");
    schema
}

fn object(shape: &Shape, tag: Option<&str>) -> Value {
    let mut properties: Map<String, Value> =
        shape.fields.iter().map(|field| (field.name.to_owned(), described(field))).collect();
    let required = shape.fields.iter().filter(|field| field.required).map(|field| field.name);
    let mut required: Vec<&str> = required.collect();
    if let Some(tag) = tag {
        properties.insert("type".to_owned(), json!({"const": tag}));
        required.push("type");
    }
    let mut object = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

fn described(field: &Field) -> Value {
    let mut schema = kind(&field.kind);
    schema["description"] = json!(field.about);
    schema
}

fn kind(of: &Kind) -> Value {
    match of {
        Kind::Text => json!({"type": "string"}),
        Kind::Numeral => json!({"type": ["string", "number"]}),
        Kind::Any => json!({"type": ["string", "number", "boolean"]}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Whole { least, most } => json!({"type": "integer", "minimum": least, "maximum": most}),
        Kind::Word(words) => json!({"enum": words}),
        Kind::Object(shape) => object(shape, None),
        Kind::Tagged(shapes) => {
            let shapes: Vec<Value> = shapes.iter().map(|(tag, shape)| object(shape, Some(tag))).collect();
            json!({"oneOf": shapes})
        }
        Kind::List { of, least } => json!({"type": "array", "items": kind(of), "minItems": least}),
        Kind::Map { of, least } => {
            json!({"type": "object", "additionalProperties": kind(of), "minProperties": least})
        }
        Kind::Either(kinds) => json!({"anyOf": kinds.iter().map(kind).collect::<Vec<_>>()}),
    }
}
