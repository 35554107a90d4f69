//! Reaches PostgreSQL as a URL says: how long it may be silent, whether it is encrypted, and whom it may turn out to be.

mod server;
mod tls;

pub use server::{Server, UrlError};
pub use tls::Encrypted;
