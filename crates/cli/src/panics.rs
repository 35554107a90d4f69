//! What is said of panics.

use std::panic;

/// Keeps quiet about a decoder that gives up on a damaged file, since an error follows; any other panic is shown.
pub(crate) fn leave_out_those_of_decoders() {
    let show = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !trueup_extract::catches_panics() {
            show(panic);
        }
    }));
}
