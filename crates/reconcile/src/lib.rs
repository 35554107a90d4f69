//! Carries out a job: reads its sources, compares them stage by stage, and tells what happens as it does.
//!
//! `trueup diff` is the case of one stage without a job: it opens [`Input`]s and calls [`compare`] itself, so that the same
//! inputs give the same verdict and the same breaks either way.

pub mod breaks;
mod carry_out;
mod condition;
mod failure;
mod hint;
mod input;
mod look;
mod plan;
mod pruning;
mod reading;
mod shape;
mod specification;
mod stages;
mod summary;
mod table;
mod telling;

pub use carry_out::{Carried, Stopped, Work, carry_out};
pub use input::{Declared, Input, OpenError, compare};
pub use look::{Looked, check, look};
