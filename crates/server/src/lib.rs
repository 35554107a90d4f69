//! HTTP: the JSON API, and the events that others report.
//!
//! [`App`] is what requests share, [`listen`] answers them until everything stops. Who asks is found out before anything else, from the key that a
//! request shows; what they may do is said by the types that a route takes.

mod api;
mod app;
mod caller;
mod idempotency;
mod json;
mod key;
mod listen;
mod page;
mod problem;
mod rate;
mod shape;

pub use api::document;
pub use app::{App, Limits};
pub use key::{Secret, WeakSecret};
pub use listen::listen;
pub use rate::Rate;
pub use shape::Run;
