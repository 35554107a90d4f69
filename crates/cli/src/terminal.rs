//! What the terminal can do, as far as the environment tells.

use std::io::{IsTerminal, stderr, stdout};

use crate::arguments::Colours;
use crate::report::Look;

/// What reports on standard output may look like.
pub(crate) fn look_of_stdout(colours: Colours) -> Look {
    Look {
        width: width_of_stdout().unwrap_or(Look::PLAIN.width),
        colour: wanted(colours, stdout().is_terminal()),
    }
}

/// How many characters a line of standard output has; nothing if it is no terminal.
pub(crate) fn width_of_stdout() -> Option<usize> {
    let width = terminal_size::terminal_size().filter(|_| stdout().is_terminal());
    width.map(|(width, _)| usize::from(width.0).max(40))
}

/// Whether messages on standard error have colours.
pub(crate) fn colours_on_stderr(colours: Colours) -> bool {
    wanted(colours, stderr().is_terminal())
}

/// How many characters a line of standard error has; nothing if it is no terminal.
pub(crate) fn width_of_stderr() -> Option<usize> {
    if !stderr().is_terminal() || is_dumb() {
        return None;
    }
    Some(terminal_size::terminal_size_of(stderr()).map_or(80, |(width, _)| usize::from(width.0)))
}

fn wanted(colours: Colours, is_terminal: bool) -> bool {
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match colours {
        Colours::Always => true,
        Colours::Never => false,
        Colours::Auto => is_terminal && !forbidden && !is_dumb(),
    }
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}
