//! Laws of runs and of their histories, over random lives.

mod folding;
mod life;
mod observing;
mod single;
mod walk;
