//! Ctrl-C and SIGTERM: at once while there is nothing to put in order, in order otherwise, at once when repeated.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use trueup_compare::Progress;

use crate::failure::{Failure, INTERRUPTED};

/// Interrupts that come no later than this after the first are one with it: `timeout`, for one, signals a process and then its group.
const ECHO: Duration = Duration::from_millis(300);

/// What an interrupt does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It ends the program: nothing is there that would have to be removed.
    Exit,
    /// It cancels the comparison, which then removes what it made.
    Cancel,
}

/// Lets an interrupt end the program, which has made nothing that would have to be removed.
pub(crate) fn end_when_interrupted() -> Result<(), Failure> {
    Ok(ctrlc::set_handler(|| end())?)
}

fn end() -> ! {
    Failure::Interrupted.report(false, "");
    std::process::exit(i32::from(INTERRUPTED))
}

/// Interrupts, which are caught from now on.
pub(crate) struct Interrupts(Arc<Mutex<Effect>>);

impl Interrupts {
    /// Lets an interrupt end the program, or cancel the comparison once that is under way.
    pub(crate) fn catch(progress: &Arc<Progress>) -> Result<Self, Failure> {
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
    pub(crate) fn cancel_from_now(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Effect::Cancel;
    }
}

/// The first interrupt, which a task can wait for; a second one ends the program at once.
pub(crate) struct Interrupted(watch::Receiver<bool>);

impl Interrupted {
    /// Catches interrupts from now on.
    pub(crate) fn catch() -> Result<Self, Failure> {
        let (tell, told) = watch::channel(false);
        let mut first: Option<Instant> = None;
        ctrlc::set_handler(move || {
            if first.get_or_insert_with(Instant::now).elapsed() > ECHO {
                std::process::exit(i32::from(INTERRUPTED));
            }
            tell.send_replace(true);
        })?;
        Ok(Self(told))
    }

    /// Waits for the first.
    pub(crate) async fn wait(&self) {
        // It cannot fail: the handler has the other end for as long as the program lives.
        drop(self.0.clone().wait_for(|is_interrupted| *is_interrupted).await);
    }
}
