//! Files of every format and compression: what they are read as, and what is refused.
#![expect(
    clippy::cast_sign_loss,
    clippy::default_trait_access,
    clippy::format_push_string,
    clippy::type_complexity,
    clippy::unwrap_used,
    reason = "tables of cases and their data are plainer so"
)]

mod columnar;
mod csv;
mod excel;
mod garbage;
mod json;
mod reading;
mod sources;
mod workbooks;
