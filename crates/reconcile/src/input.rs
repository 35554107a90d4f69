//! A source that was opened, and what is declared of it.

use std::collections::BTreeMap;
use std::path::Path;

use trueup_compare::{BreakSink, Comparison, Limits, Progress, Selection, Source, Spec, Table as _};

use crate::plan::Comparing;
use crate::table::SourceTable;

/// What is declared of a source's columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declared {
    /// New names by the table's own column names.
    pub renames: BTreeMap<String, String>,
    /// The zone of times that carry none.
    pub timezone: Option<String>,
    /// Formats of dates by column name, after renaming.
    pub date_formats: BTreeMap<String, String>,
}

/// A source that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("{source_name}: {error}")]
pub struct OpenError {
    /// The source's name.
    pub source_name: String,
    /// What is wrong with it.
    pub error: trueup_extract::Error,
}

/// A source that was opened.
pub struct Input {
    /// The name in every report.
    pub name: String,
    /// What is declared of its columns.
    pub declared: Declared,
    pub(crate) table: SourceTable,
}

impl Input {
    /// Opens a source, of which nothing is declared yet.
    pub fn open(name: &str, path: &str, options: &trueup_extract::Options) -> Result<Self, OpenError> {
        Self::of(name, trueup_extract::open(path, options))
    }

    /// Fetches a source from a store, of which nothing is declared yet.
    pub fn fetch(
        name: &str,
        objects: &trueup_extract::Objects<'_>,
        options: &trueup_extract::Options,
    ) -> Result<Self, OpenError> {
        Self::of(name, objects.open(options))
    }

    /// Takes what was opened under a name.
    pub(crate) fn of(
        name: &str,
        opened: Result<trueup_extract::Table, trueup_extract::Error>,
    ) -> Result<Self, OpenError> {
        match opened {
            Ok(opened) => {
                let table = SourceTable { opened, shape: None };
                Ok(Self { name: name.to_owned(), declared: Declared::default(), table })
            }
            Err(error) => Err(OpenError { source_name: name.to_owned(), error }),
        }
    }

    /// The columns by their own names.
    pub fn own_columns(&self) -> Vec<String> {
        self.table.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The columns by their new names.
    pub fn columns(&self) -> Vec<String> {
        let renames = &self.declared.renames;
        let new_name = |name: String| renames.get(&name).cloned().unwrap_or(name);
        self.own_columns().into_iter().map(new_name).collect()
    }

    /// What was detected of its files, for people.
    pub fn described(&self) -> String {
        self.table.opened.described()
    }

    /// The source as a comparison takes it.
    pub fn source(&self) -> Source<'_> {
        let Declared { renames, timezone, date_formats } = self.declared.clone();
        Source { name: self.name.clone(), table: &self.table, renames, timezone, date_formats }
    }
}

/// Compares the inputs; every break goes to the file, if there is one.
pub fn compare(
    inputs: &[Input],
    spec: &Spec,
    limits: &Limits,
    progress: &Progress,
    breaks: Option<&Path>,
) -> Result<Comparison, trueup_compare::Error> {
    let sources: Vec<Source<'_>> = inputs.iter().map(Input::source).collect();
    trueup_compare::compare(&sources, spec, limits, progress, breaks.map(BreakSink::File))
}

/// Compares a stage within some rows of each input, and says which of them are in groups that do not match.
pub(crate) fn compare_within(
    inputs: &[Input],
    within: Option<&[Selection]>,
    stage: &Comparing,
    limits: &Limits,
    progress: &Progress,
) -> Result<(Comparison, Vec<Selection>), trueup_compare::Error> {
    let sources: Vec<Source<'_>> = inputs.iter().map(Input::source).collect();
    let breaks = Some(BreakSink::File(&stage.breaks));
    trueup_compare::compare_within(&sources, within, &stage.spec, limits, progress, breaks)
}
