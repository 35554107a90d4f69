//! When a job runs by itself.

use chrono_tz::Tz;

use crate::cron::Cron;
use crate::cursor::At;
use crate::shape::{Kind, Shape, optional, required};
use crate::word::words;
use crate::zone::parse_named;

words! {
    /// What happens to times that passed while nothing could run.
    pub CatchUp {
        /// They are left out.
        None = "none",
        /// The last of them is run.
        Last = "last",
        /// All of them are run.
        All = "all",
    }
}

pub(crate) const SCHEDULE: Shape = Shape {
    fields: &[
        required("cron", Kind::Text, "Five fields: minute, hour, day, month, weekday."),
        optional("timezone", Kind::Text, "The zone of these times, and of `today`; UTC unless said."),
        optional("catch_up", Kind::Word(CatchUp::NAMES), "What happens to times that were missed."),
    ],
};

/// When a job runs by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schedule {
    /// The minutes at which it is due.
    pub cron: Cron,
    /// The zone of these times.
    pub timezone: Tz,
    /// What happens to times that were missed.
    pub catch_up: CatchUp,
}

pub(crate) fn read(at: &At<'_>) -> Option<Schedule> {
    let fields = at.fields(&SCHEDULE)?;
    let cron = fields.get("cron").and_then(|at| at.parsed(str::parse::<Cron>));
    let timezone = fields.maybe("timezone", |at| at.parsed(parse_named));
    let catch_up = fields.maybe("catch_up", At::word);
    Some(Schedule {
        cron: cron?,
        timezone: timezone?.unwrap_or(Tz::UTC),
        catch_up: catch_up?.unwrap_or(CatchUp::None),
    })
}
