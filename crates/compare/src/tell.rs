//! Tells of breaks: of all to whoever takes them, of the first to the report.

use crate::BreakSink;
use crate::breaks_file::{BreaksFile, BreaksFileError, Rendered, Renderer};
use crate::decide::{Told, Wanted};
use crate::error::Error;
use crate::report::{Break, BreakHeader};
use crate::table::TableError;

/// Takes what was decided, in order.
pub(crate) struct Teller<'a> {
    /// All that was counted, and the first breaks.
    pub(crate) told: Told,
    limit: usize,
    output: Output<'a>,
    renderer: Option<Renderer>,
}

enum Output<'a> {
    Nobody,
    Each(BreakHeader, &'a mut dyn FnMut(&BreakHeader, &Break) -> Result<(), TableError>),
    File(BreaksFile),
}

/// Makes what was decided ready to be taken, on any thread.
#[derive(Clone)]
pub(crate) struct Draft {
    renderer: Option<Renderer>,
    limit: usize,
}

impl Draft {
    /// Renders the breaks if they go to a file; only the first are kept then.
    pub(crate) fn of(&self, mut told: Told) -> (Told, Option<Rendered>) {
        let rendered = self.renderer.as_ref().map(|renderer| {
            let rendered = renderer.render(&told.breaks);
            told.breaks.truncate(self.limit);
            rendered
        });
        (told, rendered)
    }
}

impl<'a> Teller<'a> {
    pub(crate) fn new(
        sink: &'a mut Option<BreakSink<'_>>,
        header: BreakHeader,
        threads: usize,
        limit: usize,
        told: Told,
    ) -> Result<Self, Error> {
        let (output, renderer) = match sink {
            None => (Output::Nobody, None),
            Some(BreakSink::Each(call)) => (Output::Each(header, *call), None),
            Some(BreakSink::File(path)) => {
                let (file, renderer) = BreaksFile::create(path, &header, threads).map_err(refused)?;
                (Output::File(file), Some(renderer))
            }
        };
        Ok(Self { told, limit, output, renderer })
    }

    /// How many breaks of a batch are wanted; a file has no use for values within.
    pub(crate) fn wanted(&self) -> Wanted {
        match self.output {
            Output::Nobody => Wanted { most: self.limit, in_full: self.limit },
            Output::Each(..) => Wanted { most: usize::MAX, in_full: usize::MAX },
            Output::File(_) => Wanted { most: usize::MAX, in_full: self.limit },
        }
    }

    pub(crate) fn draft(&self) -> Draft {
        Draft { renderer: self.renderer.clone(), limit: self.limit }
    }

    /// Takes what was decided next.
    pub(crate) fn take(&mut self, (told, rendered): (Told, Option<Rendered>)) -> Result<(), Error> {
        let Told { tally, broken, breaks, pending } = told;
        self.told.tally.merge(tally);
        self.told.broken.merge(broken);
        match (&mut self.output, rendered) {
            (Output::Each(header, call), _) => {
                breaks.iter().try_for_each(|found| call(header, found)).map_err(Error::Breaks)?;
            }
            (Output::File(file), Some(rendered)) => file.append(rendered).map_err(refused)?,
            _ => {}
        }
        let before = self.told.breaks.len();
        let room = self.limit.saturating_sub(before);
        let listed = pending.into_iter().filter(|(found, ..)| *found < room);
        self.told.pending.extend(listed.map(|(found, source, locator)| (before + found, source, locator)));
        self.told.breaks.extend(breaks.into_iter().take(room));
        Ok(())
    }

    /// Completes the file, if there is one, and gives back what was told.
    pub(crate) fn finish(self) -> Result<Told, Error> {
        if let Output::File(file) = self.output {
            file.finish().map_err(refused)?;
        }
        Ok(self.told)
    }
}

fn refused(error: BreaksFileError) -> Error {
    Error::Breaks(Box::new(error))
}
