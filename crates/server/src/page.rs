//! Long lists, a page at a time.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::problem::Refused;

/// How many a page has unless asked otherwise.
const LIMIT_DEFAULT: u32 = 50;
/// How many it has at most.
const LIMIT_MAX: u32 = 500;

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Page<T> {
    /// What is on it.
    pub(crate) items: Vec<T>,
    /// What to ask for as `after` to get the next page; none on the last.
    pub(crate) next: Option<String>,
}

/// Which page of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Paging {
    /// The `next` of the page before.
    pub(crate) after: Option<String>,
    /// How many a page has.
    #[param(minimum = 1, maximum = 500, default = 50)]
    pub(crate) limit: Option<u32>,
}

impl Paging {
    /// How many are wanted.
    pub(crate) fn limit(&self) -> Result<u32, Refused> {
        limit(self.limit)
    }

    /// Where the page begins, as the list counts.
    pub(crate) fn after<T: std::str::FromStr>(&self) -> Result<Option<T>, Refused> {
        after(self.after.as_deref())
    }
}

/// How many are wanted, no more than a page has.
pub(crate) fn limit(wanted: Option<u32>) -> Result<u32, Refused> {
    match wanted.unwrap_or(LIMIT_DEFAULT) {
        limit @ 1..=LIMIT_MAX => Ok(limit),
        other => Err(Refused::field("limit", format!("is {other}, and must be 1 to {LIMIT_MAX}"))),
    }
}

/// Where a page begins, as its list counts.
pub(crate) fn after<T: std::str::FromStr>(given: Option<&str>) -> Result<Option<T>, Refused> {
    let read = |text: &str| text.parse().map_err(|_| Refused::field("after", "is not the `next` of a page"));
    given.map(read).transpose()
}

/// Makes a page of one more than were wanted, if there are as many.
pub(crate) fn page<T>(mut items: Vec<T>, limit: u32, place: impl Fn(&T) -> String) -> Page<T> {
    let has_more = items.len() > limit as usize;
    items.truncate(limit as usize);
    let next = items.last().filter(|_| has_more).map(place);
    Page { items, next }
}
