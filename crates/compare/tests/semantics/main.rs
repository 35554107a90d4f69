//! The sentences of the documentation on comparing, each as a case.

mod concentration;
mod disagreement;
mod held;
mod inference;
mod keys;
mod nested;
mod numbers;
mod refusals;
mod report;
mod scene;
mod times;
mod tolerances;
