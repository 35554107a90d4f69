//! What a comparison looks like to people and to programs.

#![expect(clippy::format_collect, reason = "reports are short, and this is how they read best")]

mod break_table;
mod figures;
mod html;
mod html_chart;
mod json;
mod junit;
mod leeway;
mod markdown;
mod marking;
mod phrases;
#[cfg(test)]
mod samples;
mod table;
mod table_breaks;
pub(crate) mod text_grid;

use std::path::Path;

use clap::ValueEnum;
use trueup_compare::{Comparison, Spec, Verdict};

pub(crate) use phrases::{Counts, count, counted, verdict_line};
pub(crate) use table::first_of;

/// A finished comparison and where its sources came from.
pub(crate) struct Report<'a> {
    /// What was found.
    pub(crate) comparison: &'a Comparison,
    /// What was asked for.
    pub(crate) spec: &'a Spec,
    /// One per source.
    pub(crate) inputs: &'a [Input],
}

/// Where a source came from.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    /// As given on the command line.
    pub(crate) path: String,
    /// What was detected: `CSV, delimiter ';', UTF-8, header`.
    pub(crate) read_as: String,
}

/// What the report is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a terminal.
    Table,
    /// One object, described by docs/diff.schema.json.
    Json,
    /// For a comment on a pull request.
    Markdown,
    /// One file with charts, for a browser.
    Html,
    /// For a build server.
    Junit,
}

impl Format {
    /// What a file with this extension is expected to be.
    pub(crate) fn of(path: &Path) -> Self {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("json") => Self::Json,
            Some("md" | "markdown") => Self::Markdown,
            Some("html" | "htm") => Self::Html,
            Some("xml") => Self::Junit,
            _ => Self::Table,
        }
    }
}

/// What the place that a table is shown in can do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// Characters in a line.
    pub(crate) width: usize,
    /// Whether escape codes for colours are understood.
    pub(crate) colour: bool,
}

impl Look {
    /// What goes into files and pipes.
    pub(crate) const PLAIN: Self = Self { width: 120, colour: false };

    /// How marks and headings are shown there.
    pub(crate) fn marks(self) -> text_grid::Marks {
        if self.colour { text_grid::Marks::Colours } else { text_grid::Marks::Carets }
    }
}

impl Report<'_> {
    /// Writes the report in a format; ends in a line break.
    pub(crate) fn render(&self, format: Format, look: Look) -> String {
        match format {
            Format::Table => table::render(self, look),
            Format::Json => json::render(self),
            Format::Markdown => markdown::render(self),
            Format::Html => html::render(self),
            Format::Junit => junit::render(self),
        }
    }

    fn matched(&self) -> bool {
        self.comparison.verdict == Verdict::Matched
    }
}
