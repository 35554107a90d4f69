//! Everything that happens to runs without a request: executor, worker, completion, sweeps.
//!
//! Nothing here remembers: what is to be done is looked up in the store, done, and written back by one of the store's verbs. So
//! every part may run twice, and on two machines at once; whoever loses a race reads what stands and goes on.

mod alone;
mod attempt;
mod bounded;
mod child;
mod engine;
mod executor;
mod finisher;
mod jobs;
mod local;
mod patience;
mod perform;
mod serve;
mod settings;
mod station;
mod stopping;
mod sweep;
mod task;
mod worker;

pub use alone::see_through;
pub use child::Child;
pub use engine::{Answer, Engine, EngineError, Kept};
pub use local::Local;
pub use perform::{Means, Perform, Performed, Told};
pub use serve::{Roles, is_of_servers, serve};
pub use settings::{Settings, millis};
pub use station::Station;
pub use stopping::Stopping;
pub use sweep::sweep_once;
