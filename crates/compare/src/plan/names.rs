//! The columns of all sources by their names after renaming.

use std::collections::HashMap;

use arrow_schema::SchemaRef;

use super::{Column, type_name};
use crate::error::Error;
use crate::kind::Physical;
use crate::report::{ColumnReport, Role};
use crate::spec::Source;
use crate::text::near_miss;

/// The columns of all sources by their names after renaming.
pub(super) struct Names {
    /// In the order of the first source, then what only the others have.
    all: Vec<String>,
    /// Per source.
    indices: Vec<HashMap<String, usize>>,
    schemas: Vec<SchemaRef>,
}

impl Names {
    pub(super) fn new(sources: &[Source<'_>]) -> Result<Self, Error> {
        let mut names = Self { all: Vec::new(), indices: Vec::new(), schemas: Vec::new() };
        for source in sources {
            let schema = source.table.schema();
            let own: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            for from in source.renames.keys() {
                if !own.contains(&from.as_str()) {
                    let hint =
                        near_miss(from, own.iter().copied()).map(|near| format!("did you mean `{near}`?"));
                    let what = format!("{} has no column `{from}` to rename", source.name);
                    return Err(Error::Spec { what, hint });
                }
            }
            let mut indices = HashMap::new();
            for (index, own) in own.into_iter().enumerate() {
                let name = source.renames.get(own).map_or(own, String::as_str);
                if indices.insert(name.to_string(), index).is_some() {
                    return Err(Error::spec_hint(
                        format!("{} has two columns named `{name}`", source.name),
                        "rename one of them",
                    ));
                }
                if !names.all.iter().any(|known| known == name) {
                    names.all.push(name.to_string());
                }
            }
            names.indices.push(indices);
            names.schemas.push(schema);
        }
        Ok(names)
    }

    pub(super) fn all(&self) -> &[String] {
        &self.all
    }

    pub(super) fn is_known(&self, name: &str) -> bool {
        self.all.iter().any(|known| known == name)
    }

    /// Where the column is in each source.
    pub(super) fn indices(&self, name: &str) -> Vec<Option<usize>> {
        self.indices.iter().map(|indices| indices.get(name).copied()).collect()
    }

    /// A column of the source that may have been meant.
    pub(super) fn near_in(&self, source: usize, name: &str) -> Option<String> {
        near_miss(name, self.indices[source].keys().map(String::as_str)).map(str::to_owned)
    }

    /// What became of every column.
    pub(super) fn reports(&self, columns: &[Column], key: &[usize]) -> Vec<ColumnReport> {
        let report = |name: &String| {
            let planned = columns.iter().position(|column| column.name == *name);
            let indices = self.indices(name);
            let role = match planned {
                Some(planned) if key.contains(&planned) => Role::Key,
                Some(_) => Role::Compared,
                None if indices.contains(&None) => Role::Missing,
                None => Role::Ignored,
            };
            let types = indices.iter().enumerate().map(|(source, index)| {
                let data_type = self.schemas[source].field((*index)?).data_type();
                let plain = type_name(Physical::of(data_type), data_type);
                let reading = planned.and_then(|planned| columns[planned].reading(source));
                Some(reading.map_or(plain.clone(), |reading| format!("{plain}: {reading}")))
            });
            ColumnReport {
                name: name.clone(),
                role,
                compared_as: planned.map(|planned| columns[planned].kind),
                types: types.collect(),
                notes: planned.map_or_else(Vec::new, |planned| columns[planned].notes.clone()),
            }
        };
        self.all.iter().map(report).collect()
    }
}

/// The error for a name that no source has.
pub(super) fn no_such_column(name: &str, names: &Names) -> Error {
    let near = near_miss(name, names.all.iter().map(String::as_str));
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", names.all.join(", ")),
    };
    Error::spec_hint(format!("no source has a column `{name}`"), hint)
}
