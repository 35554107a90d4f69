//! The job document: parse, check, parameters.
//!
//! A job says what to reconcile. It is read from YAML or JSON into types that only what was checked can have; how it is run
//! is none of this crate's business.

mod anchor;
mod arguments;
mod connection;
mod context;
mod cron;
mod cursor;
mod decimal;
mod document;
mod duration;
mod expression;
mod fault;
mod follow_up;
mod job;
mod measure;
mod memory;
mod name;
mod node;
mod notify;
mod param;
mod path;
mod query;
mod schedule;
mod schema;
mod secret;
mod shape;
mod source;
mod spelling;
mod stage;
mod template;
mod template_error;
mod tolerance;
mod value;
mod word;
mod yaml;
mod zone;

pub use anchor::AnchorError;
pub use arguments::{ArgumentError, Arguments, Moment};
pub use connection::{Connection, ConnectionKind};
pub use cron::{Cron, CronError};
pub use decimal::{Decimal, DecimalError};
pub use duration::{DurationError, parse_duration, parse_limit};
pub use fault::{Fault, Faults, Place};
pub use follow_up::FollowUp;
pub use job::{Duplicates, Job, Method};
pub use measure::{Aggregate, Measure};
pub use memory::{Memory, NotMemory};
pub use name::{NotName, parse_name};
pub use notify::{Detail, Ending, Notify};
pub use param::{Fallback, Param};
pub use path::{PathTemplate, path_under};
pub use query::{Query, QueryTemplate};
pub use schedule::{CatchUp, Schedule};
pub use schema::schema;
pub use secret::{Reference, Secret, Setting};
pub use source::{Empty, FileFormat, FileOptions, Rows, Source};
pub use spelling::near_miss;
pub use stage::{Stage, Strategy};
pub use template::Template;
pub use template_error::TemplateError;
pub use tolerance::{Allow, Base, Normaliser, Rule, Tolerance};
pub use value::{NotOfType, Type, Value};
pub use zone::{UnknownZone, Zone};
