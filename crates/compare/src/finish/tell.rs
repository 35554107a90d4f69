//! Tells of breaks: of all to whoever takes them, of the first to the report.

use crate::BreakSink;
use crate::error::Error;
use crate::finish::decide::{Told, Wanted};
use crate::report::breaks_file::{BreaksFile, BreaksFileError, Renderer};
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

    /// What is wanted of the breaks of a batch.
    pub(crate) fn wanted(&self) -> Wanted {
        let kept = match self.output {
            Output::Nobody | Output::File(_) => self.limit,
            Output::Each(..) => usize::MAX,
        };
        Wanted { kept, renderer: self.renderer.clone() }
    }

    /// Takes what was decided next.
    pub(crate) fn take(&mut self, told: Told) -> Result<(), Error> {
        let Told { tally, broken, breaks, rendered, pending, .. } = told;
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
