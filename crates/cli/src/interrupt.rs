//! Ctrl-C and SIGTERM: at once while sources are opened, in order during a comparison, at once when repeated.

use std::sync::{Arc, Mutex, PoisonError};

use trueup_compare::Progress;

use crate::failure::{Failure, INTERRUPTED};

/// What an interrupt does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It ends the program: nothing is there that would have to be removed.
    Exit,
    /// It cancels the comparison, which then removes what it made.
    Cancel,
}

/// Lets an interrupt end the program, which has made nothing that would have to be removed.
pub fn end_when_interrupted() -> Result<(), Failure> {
    Ok(ctrlc::set_handler(|| end())?)
}

fn end() -> ! {
    Failure::Interrupted.report(false);
    std::process::exit(i32::from(INTERRUPTED))
}

/// Interrupts, which are caught from now on.
pub struct Interrupts(Arc<Mutex<Effect>>);

impl Interrupts {
    /// Lets an interrupt end the program, or cancel the comparison once that is under way.
    pub fn catch(progress: &Arc<Progress>) -> Result<Self, Failure> {
        let progress = Arc::clone(progress);
        let effect = Arc::new(Mutex::new(Effect::Exit));
        let caught = Arc::clone(&effect);
        ctrlc::set_handler(move || {
            // Held up to the exit, so that nothing can be begun meanwhile that would be left behind.
            let mut effect = caught.lock().unwrap_or_else(PoisonError::into_inner);
            match *effect {
                Effect::Exit => end(),
                Effect::Cancel => progress.cancel(),
            }
            *effect = Effect::Exit;
        })?;
        Ok(Self(effect))
    }

    /// From here on, the first interrupt cancels.
    pub fn cancel_from_now(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Effect::Cancel;
    }
}
