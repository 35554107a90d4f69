//! Reaches PostgreSQL and MySQL as a URL says: how long they may be silent, whether it is encrypted, and whom they may turn out to be.

mod encryption;
pub mod mysql;
mod server;
mod tls;

pub use encryption::UrlError;
pub use server::Server;
pub use tls::Encrypted;
